from __future__ import annotations

from pathlib import Path

import pytest

from eval_skills.agent_skills.folder import read_agent_skill
from eval_skills.core.errors import InputError
from eval_skills.core.triggers import Query
from eval_skills.engine.triggers.optimizing import halves, rewritten_copy, with_description


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
    ],
)
def test_only_the_description_changes(tmp_path: Path, written: str) -> None:
    text = f"---\nname: csv\n{written}license: MIT\n---\n# Body\ndescription: not this one\n"
    changed = with_description(text, 'Says "this": and more')
    (tmp_path / "csv").mkdir()
    (tmp_path / "csv" / "SKILL.md").write_text(changed)
    skill = read_agent_skill(tmp_path / "csv")
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
