from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from eval_skills.agent_skills.folder import read_agent_skill
from eval_skills.core.config import LlmSettings
from eval_skills.core.config.judging import JudgeOptions
from eval_skills.core.errors import ConfigError, InputError, UsageError
from eval_skills.core.triggers import Query
from eval_skills.engine.triggers.optimizing import (
    Rewritten,
    asking,
    halves,
    rewritten_copy,
    too_few_to_prove,
    with_description,
)
from eval_skills.scorers.judging.judge import Judge
from tests.tables import each_row


def queries(wanted: int, unwanted: int) -> list[Query]:
    kinds = [True] * wanted + [False] * unwanted
    return [Query(id=f"q{number}", query=f"query {number}", should_trigger=kind) for number, kind in enumerate(kinds)]


def test_both_kinds_are_in_both_halves_and_the_split_is_always_the_same() -> None:
    found = halves(queries(10, 10))
    kinds = [[each.should_trigger for each in half].count(True) for half in (found.training, found.held_out)]
    assert (len(found.training), len(found.held_out), kinds) == (12, 8, [6, 4])
    assert halves(queries(10, 10)) == found
    assert halves(queries(10, 10), seed=7) != found


def test_a_kind_with_a_single_query_cannot_be_held_out() -> None:
    with pytest.raises(InputError, match="1 of the queries should not load it; give at least two of each kind"):
        halves(queries(5, 1))


@pytest.mark.parametrize(
    "written",
    [
        pytest.param("description: Old one.\n", id="plain"),
        pytest.param("description: >-\n  Old\n  one.\n\n  More.\n", id="folded"),
        pytest.param("description: 'Old:\n  one'\n", id="quoted-over-lines"),
        pytest.param('description: "Old"\r\n', id="crlf"),
        pytest.param('"description" : Old\n', id="quoted-key"),
        pytest.param("description-of: another\ndescription: Old\n", id="a-longer-key-before-it"),
        pytest.param("description: Old\n  and a-word:word\n", id="continued"),
    ],
)
def test_only_the_description_changes(tmp_path: Path, written: str) -> None:
    text = f"---\nname: csv\n{written}license: MIT\n---\n# Body\ndescription: not this one\n"
    changed = with_description(text, 'Says "this": and more')
    (tmp_path / "csv").mkdir()
    (tmp_path / "csv" / "SKILL.md").write_text(changed)
    skill = read_agent_skill(tmp_path / "csv")
    assert "another" in changed or "another" not in written
    assert (skill.description, skill.text("license")) == ('Says "this": and more', "MIT")
    assert skill.body == "# Body\ndescription: not this one\n"


def test_a_copy_has_another_description_and_the_original_stays(tmp_path: Path) -> None:
    (tmp_path / "csv" / "scripts").mkdir(parents=True)
    (tmp_path / "csv" / "SKILL.md").write_text("---\nname: csv\ndescription: Old.\n---\n")
    (tmp_path / "csv" / "scripts" / "a.py").write_text("")
    copy = rewritten_copy(read_agent_skill(tmp_path / "csv"), "New.", tmp_path / "copies")
    assert read_agent_skill(copy).description == "New."
    assert (copy / "scripts" / "a.py").is_file()
    assert read_agent_skill(tmp_path / "csv").description == "Old."


@pytest.mark.parametrize(
    "frontmatter",
    [
        pytest.param("{name: csv, description: Old}", id="in-braces"),
        pytest.param("description: &text Old\nsummary: *text", id="an-anchor-that-others-use"),
    ],
)
def test_what_cannot_be_replaced_alone_is_refused(frontmatter: str) -> None:
    with pytest.raises(InputError, match="description"):
        with_description(f"---\n{frontmatter}\n---\n# Body\n", "New")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        pytest.param("Adds <b>up</b>\n columns\x7f", "Adds bup/b columns", id="markup-and-controls"),
        pytest.param("Adds up\u202e\U000e0041 columns", "Adds up columns", id="hidden-text"),
        pytest.param("می\u200cشود", "می\u200cشود", id="joiners-stay"),
        pytest.param("<>", None, id="nothing-left"),
        pytest.param(" \u200b…", None, id="no-word"),
        pytest.param("x" * 1025, None, id="too-long"),
    ],
)
def test_a_reply_is_a_text_that_can_be_read(given: str, kept: str | None) -> None:
    if kept is None:
        with pytest.raises(ValidationError):
            Rewritten(description=given)
    else:
        assert Rewritten(description=given).description == kept


@each_row(("wanted", "unwanted", "futile"), [(4, 2, True), (5, 5, True), (8, 5, False), (10, 10, False)])
def test_too_few_held_out_queries_are_named_before_anything_is_asked(wanted: int, unwanted: int, futile: bool) -> None:
    held_out = halves(queries(wanted, unwanted)).held_out
    assert (too_few_to_prove(held_out) is not None) is futile, len(held_out)


def test_a_model_that_cannot_be_asked_is_refused_before_an_agent_is_paid_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def without_a_key(_: Judge) -> None:
        raise ConfigError("openai/some-model needs a key")

    monkeypatch.setattr(Judge, "check_answers", without_a_key)
    (tmp_path / "csv").mkdir()
    (tmp_path / "csv" / "SKILL.md").write_text("---\nname: csv\ndescription: Old.\n---\n")
    skill = read_agent_skill(tmp_path / "csv")
    judging = JudgeOptions(llm=LlmSettings(model="openai/some-model"))
    with pytest.raises(UsageError, match="openai/some-model needs a key"), asking(skill, judging):
        pytest.fail("it was not refused")
