"""Linting several skills, profiles, and the score."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_skills.agent_skills.linting.finding import MAX_OF_A_CODE, score_of
from eval_skills.agent_skills.linting.linting import lint, lint_skill
from eval_skills.agent_skills.linting.rules import RULES, checks_of
from eval_skills.agent_skills.linting.several import MAX_PAIRS
from eval_skills.core.errors import InputError, UsageError

SHOPPING = "Compares prices of groceries across shops and writes a list. Use when somebody wants to shop."
WEATHER = "Says how the weather will be tomorrow. Use when somebody asks for a forecast."


def write(folder: Path, description: str = SHOPPING, body: str = "Do it.", **fields: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"name: {fields.pop('name', folder.name)}", f"description: {description}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    (folder / "SKILL.md").write_text("\n".join(["---", *lines, "---", body]), encoding="utf-8")
    return folder


def test_each_skill_once_in_the_order_of_the_paths(tmp_path: Path) -> None:
    for name in ("b", "a"):
        write(tmp_path / name, WEATHER if name == "a" else SHOPPING)
    found = lint([tmp_path / "b", tmp_path, tmp_path / "b" / "SKILL.md"])
    assert [skill.name for skill in found.skills] == ["b", "a"]
    assert (found.together, found.listed, found.count("error")) == ([], len(SHOPPING) + len(WEATHER), 0)


@pytest.mark.parametrize("path", ["missing", "empty", "other.md"])
def test_a_path_without_a_skill_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "other.md").touch()
    write(tmp_path / "a")
    with pytest.raises(InputError, match=r"no such file|no SKILL\.md|not a SKILL\.md"):
        lint([tmp_path / "a", tmp_path / path])


def test_what_is_unknown_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'spek' is unknown .did you mean 'spec'"):
        lint([write(tmp_path / "a")], profiles=["spek"])
    with pytest.raises(UsageError, match=r"rule 'secrets' is unknown .did you mean 'secret'"):
        lint([write(tmp_path / "a")], ignored=["secrets"])
    with pytest.raises(UsageError, match="budget is 0"):
        lint([write(tmp_path / "a")], budget=0)


def test_names_and_descriptions_that_compete(tmp_path: Path) -> None:
    write(tmp_path / "one" / "shop")
    write(tmp_path / "two" / "shop", WEATHER)
    write(tmp_path / "groceries", SHOPPING.replace("a list", "one list"))
    found = lint([tmp_path])
    assert [finding.code for finding in found.together] == ["name-collision", "description-overlap"]
    assert all(finding.severity == "warning" for finding in found.together)
    assert "groceries and shop are 97 % alike" in found.together[1].message


def test_of_many_pairs_only_some_are_listed(tmp_path: Path) -> None:
    for number in range(12):
        write(tmp_path / f"s{number}")
    pairs = [finding for finding in lint([tmp_path]).together if finding.code == "description-overlap"]
    assert len(pairs) == MAX_PAIRS
    assert [finding.message.endswith("further pairs are not listed") for finding in pairs[-2:]] == [False, True]


def test_copies_of_a_skill_are_a_note(tmp_path: Path) -> None:
    write(tmp_path / ".agents" / "shop")
    write(tmp_path / ".claude" / "shop")
    [finding] = lint([tmp_path]).together
    assert (finding.code, finding.severity) == ("copied-skill", "note")


def test_the_listing_has_a_budget(tmp_path: Path) -> None:
    write(tmp_path / "a")
    write(tmp_path / "b", WEATHER)
    assert not lint([tmp_path], budget=len(SHOPPING + WEATHER)).together
    [finding] = lint([tmp_path], budget=len(SHOPPING + WEATHER) - 1).together
    assert finding.code == "listing-budget"
    write(tmp_path / "b", WEATHER, disable_model_invocation="true")
    assert lint([tmp_path]).listed == len(SHOPPING)


def test_many_skills_for_one_session(tmp_path: Path) -> None:
    for number in range(21):
        write(tmp_path / f"s{number}", f"{number} {number * 7}")
    assert [each.code for each in lint([tmp_path], profiles=["anthropic-upload"]).together] == ["many-skills"]
    assert lint([tmp_path]).together == []


def test_the_score_weighs_ten_warnings_as_one_error(tmp_path: Path) -> None:
    skill = lint_skill(write(tmp_path / "a", "Shops.", version="1.0"))
    assert [(finding.code, finding.severity) for finding in skill.findings] == [
        ("description-no-when", "warning"),
        ("unknown-field", "error"),
    ]
    checks = sum(rule.source in {"spec", "eval-skills"} and not rule.of_many for rule in RULES.values())
    assert skill.checks == checks == checks_of(frozenset({"spec"}))
    assert skill.score == pytest.approx(1 - (1 + 0.1) / checks)
    assert score_of(1_000, 0, 10) == 0


def test_ignored_rules_cost_nothing(tmp_path: Path) -> None:
    folder = write(tmp_path / "a", "Shops.", version="1.0")
    found = lint([folder], ignored=["unknown-field", "description-no-when"])
    assert (found.skills[0].findings, found.skills[0].score) == ((), 1)


def test_findings_of_one_rule_are_counted_beyond_a_bound(tmp_path: Path) -> None:
    skill = lint_skill(write(tmp_path / "a", body="\n".join(f"[x](f{number}.md)" for number in range(MAX_OF_A_CODE + 7))))
    assert (len(skill.findings), dict(skill.more), skill.count("warning")) == (MAX_OF_A_CODE, {"reference-dead": 7}, 57)


def test_every_rule_says_what_it_is() -> None:
    assert all(rule.summary and not rule.summary.endswith(".") for rule in RULES.values())
