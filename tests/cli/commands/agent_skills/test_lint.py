"""`eval-skills lint`: what it prints, in each form, and how it ends."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

GOOD = "---\nname: {name}\ndescription: Reads files. Use when a file is given.\n---\nRead it.\n"
BAD = "---\nname: bad\ndescription: Use when: asked\nversion: 1.0\n---\n[a](b.md)\n"


@pytest.fixture(autouse=True)
def skills(place: Any) -> None:
    place.write("skills/good/SKILL.md", GOOD.format(name="good"))
    place.write("skills/bad/SKILL.md", BAD)


def test_text_is_grouped_by_file_and_names_places(run_here: Any) -> None:
    result = run_here("lint", "skills")
    lines = [line.rstrip() for line in result.out.splitlines()]
    assert result.code == 1
    assert lines[0] == "skills/bad/SKILL.md"
    assert lines[1].split(maxsplit=2)[:2] == ["3:22", "error"]
    assert lines[-2:] == ["2 skills: 2 errors, 1 warning", "listing: 53 of 8,000 characters"]
    assert "good" not in result.out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["skills/good"], 0, id="good"),
        pytest.param(["skills/bad/SKILL.md"], 1, id="file-with-errors"),
        pytest.param(["skills/bad", "--ignore", "unknown-field", "frontmatter-unquoted-colon"], 0, id="warnings-alone"),
        pytest.param(["skills/bad", "--strict", "--ignore", "unknown-field", "frontmatter-unquoted-colon"], 1, id="strict"),
        pytest.param(["skills/good", "--listing-budget", "5", "--strict"], 1, id="budget"),
        pytest.param(["nowhere"], 2, id="no-such-path"),
        pytest.param(["skills/good", "--profile", "spek"], 2, id="unknown-profile"),
        pytest.param(["skills/good", "--format", "xml"], 2, id="unknown-format"),
        pytest.param(["skills/good", "--listing-budget", "0"], 2, id="no-budget"),
        pytest.param(["--profile", "spec", "skills/good"], 2, id="path-after-an-option"),
    ],
)
def test_exit_code(run_here: Any, arguments: list[str], code: int) -> None:
    assert run_here("lint", *arguments).code == code


def test_the_current_folder_is_the_default(run_here: Any) -> None:
    assert "2 skills" in run_here("lint").out


def test_vendors_stand_beside_the_standard(place: Any, run_here: Any) -> None:
    place.write("skills/claude/SKILL.md", GOOD.format(name="claude"))
    result = run_here("lint", "skills/claude", "--profile", "spec", "anthropic-upload")
    assert "  anthropic-upload\n" in result.out
    assert "of these, anthropic-upload: 1 error" in result.out
    assert run_here("lint", "skills/claude").code == 0


def test_json_has_everything(run_here: Any) -> None:
    document = run_here("lint", "skills", "--json").json
    assert document == run_here("lint", "skills", "--format", "json").json
    bad, good = document["skills"]
    assert (good["score"], good["findings"], document["listing"]) == (1, [], {"characters": 53, "budget": 8000})
    assert bad["findings"][0] == {
        "code": "frontmatter-unquoted-colon", "severity": "error", "source": "spec", "file": "skills/bad/SKILL.md", "line": 3,
        "column": 22, "fix": "put the value of description in quotes",
        "message": "the value of description holds a colon and has no quotes, which is not valid YAML",
    }  # fmt: skip
    assert document["counts"]["bySource"] == {"spec": {"error": 2, "warning": 1, "note": 0}}


def test_sarif_keeps_the_rules_of_its_schema(place: Any, run_here: Any) -> None:
    """Those of SARIF 2.1.0 for what is written: required properties, bounds, enumerations, references to rules."""
    place.write("skills/odd näme/SKILL.md", GOOD.format(name="odd"))
    place.write("skills/odd näme/scripts/a.sh", "#!/bin/sh\n# Usage: a.sh\n")
    place.write("skills/worse/SKILL.md", GOOD.format(name="good"))
    document = run_here("lint", "skills", "--format", "sarif").json
    assert (document["version"], len(document["runs"])) == ("2.1.0", 1)
    run = document["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert all(rule["shortDescription"]["text"].endswith(".") for rule in rules)
    assert run["columnKind"] in {"utf16CodeUnits", "unicodeCodePoints"}
    assert {result["ruleId"] for result in run["results"]} >= {"script-not-executable", "copied-skill"}
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"none", "note", "warning", "error"}
        assert result["message"]["text"]
        assert all(isinstance(value, str) for value in result["partialFingerprints"].values())
        assert result["locations"]
        for location in (each["physicalLocation"] for each in result["locations"]):
            assert not {" ", "ä"} & set(location["artifactLocation"]["uri"])
            assert location["region"]["startLine"] >= 1
    uris = [_uris(result) for result in run["results"]]
    assert ["skills/odd%20n%C3%A4me/SKILL.md"] in uris
    assert uris[-1] == ["skills/good/SKILL.md", "skills/worse/SKILL.md"]


def _uris(result: dict[str, Any]) -> list[str]:
    return [each["physicalLocation"]["artifactLocation"]["uri"] for each in result["locations"]]


def test_githubs_commands_cannot_be_forged(place: Any, run_here: Any) -> None:
    place.write("skills/evil/SKILL.md", GOOD.format(name='"x\\n::error::100%"') + "[a](b%0A::error::c.md)\n")
    place.write("skills/e,v:l/SKILL.md", GOOD.format(name="el"))
    result = run_here("lint", "skills", "--format", "github")
    lines = result.out.splitlines()
    assert all(line.startswith(("::error file=", "::warning file=")) for line in lines)
    assert "::error file=skills/bad/SKILL.md,line=3,col=22,title=frontmatter-unquoted-colon (spec)::the value of" in result.out
    assert "file=skills/e%2Cv%3Al/SKILL.md" in result.out
    assert "100%25" in result.out


def test_nothing_of_a_skill_steers_the_terminal(place: Any, run_here: Any) -> None:
    place.write("skills/evil/SKILL.md", GOOD.format(name='"\\e[31mx"') + "[a](\x1b[2Jx.md)\n")
    for form in ("text", "github"):
        assert "\x1b" not in run_here("lint", "skills/evil", "--format", form).out


def test_text_fits_80_columns(run_here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_skills.cli.output.skill_linting.TEXT_WIDTH", 80)
    assert 60 < max(len(line) for line in run_here("lint", "skills").out.splitlines()) <= 80


def test_names_that_are_no_text_can_be_printed(place: Any, run_here: Any) -> None:
    os.rename("skills/good", b"skills/g\xff")
    for form in ("text", "json", "sarif", "github"):
        assert "\\udcff" in run_here("lint", "skills", "--format", form).out


@pytest.mark.slow
def test_the_configuration_sets_the_options(place: Any, run_here: Any) -> None:
    place.write("eval-skills.config.yaml", "lint: {ignore: [unknown-field, frontmatter-unquoted-colon], strict: true}\n")
    assert run_here("lint", "skills/bad").code == 1
    assert "1 warning" in run_here("lint", "skills/bad").out
    assert run_here("lint", "skills/good").code == 0
    assert os.path.lexists(Path("skills/good"))


def test_the_hook_for_pre_commit_calls_a_command_that_is_there() -> None:
    import yaml

    [hook] = yaml.safe_load((Path(__file__).parents[4] / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert (hook["id"], hook["entry"], hook["args"]) == ("eval-skills-lint", "eval-skills lint", ["."])
    assert (hook["pass_filenames"], hook["always_run"]) == (False, True), "a file that was deleted is not among those of a commit"
    assert "files" not in hook, "any file of a folder may be one of a skill"
