"""The reference that is generated from the code: nothing is missing in it, and it has nothing that is gone."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest
import yaml

from docs import generate, picture
from docs.generate import commands_of
from eval_skills.cli.app import app
from eval_skills.cli.configuration import options_of
from eval_skills.core.config import Config
from eval_skills.core.models import EvaluatorEntry
from eval_skills.core.store.schema import RUN_SCHEMA, SCHEMAS, TURN_SCHEMA
from eval_skills.core.store.sql import VIEWS
from eval_skills.scorers.description import type_words
from eval_skills.scorers.options import FILLED_IN
from eval_skills.scorers.registry import find_scorer, scorer_names
from tests.tables import each_row

COMMANDS = [(command, inner) for command, inner in commands_of(app)]
REFERENCE = generate.DOCS / "reference"
ALL_SCHEMAS: dict[str, Any] = dict(SCHEMAS.items()) | {"runs": RUN_SCHEMA, "turns": TURN_SCHEMA}


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return generate.pages()


def section(page: str, heading: str) -> str:
    """The text below a heading of the second level."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert found is not None, f"no section {heading!r}"
    return found[1]


@pytest.mark.parametrize(("command", "inner"), COMMANDS, ids=lambda each: " ".join(each) if isinstance(each, tuple) else "")
def test_every_command_and_option_has_its_place(pages: dict[str, str], command: tuple[str, ...], inner: object) -> None:
    text = section(pages["reference/commands.md"], f"eval-skills {' '.join(command)}")
    paragraphs = [" ".join(each.split()) for each in inner.default_command.__doc__.split("\n\n")]  # type: ignore[attr-defined]
    examples = [each.removeprefix("Example: ") for each in paragraphs if each.startswith("Example: ")]
    assert [example for example in examples if f"$ {example}\n" not in text] == []
    assert paragraphs[0].replace("<", "&lt;") in text
    for argument in inner.assemble_argument_collection():  # type: ignore[attr-defined]
        if argument.parse and argument.show and argument.names[0] != "*":
            row = next((line for line in text.splitlines() if line.startswith("| ") and f"`{argument.names[0]}`" in line), "")
            assert len(row.split("|")[2]) > 8, f"{argument.names[0]} has no meaning"


@pytest.mark.slow
def test_every_key_of_the_configuration_has_its_row(pages: dict[str, str]) -> None:
    page = pages["reference/configuration.md"]
    top = section(page, "Keys at the top level")
    for name, field in Config.model_fields.items():
        assert re.search(rf"^\| `{field.alias or name}[`.]", top, re.MULTILINE), name
    groups = section(page, "Keys of commands")
    for command, inner in COMMANDS:
        for option in options_of(command, inner.assemble_argument_collection()):
            assert f"| `{'.'.join(option.leaf)}` |" in groups


def test_no_row_of_the_configuration_is_without_type_and_meaning(pages: dict[str, str]) -> None:
    rows = [
        line.split(" | ")
        for line in section(pages["reference/configuration.md"], "Keys at the top level").splitlines()[3:]
        if line
    ]
    assert [row[0] for row in rows if not row[1].strip() or not row[4].strip(" |")] == []


@pytest.mark.parametrize(
    "name", [name for name in scorer_names() if find_scorer(name).target.__module__.startswith("eval_skills.")]
)
def test_every_scorer_and_option_has_its_place(pages: dict[str, str], name: str) -> None:
    entry = find_scorer(name)
    text = section(pages["reference/scorers.md"], entry.name if entry.name in pages["reference/scorers.md"] else name)
    assert f"`{name}`" in text
    assert inspect.getdoc(entry.target)
    for option in entry.options.values():
        assert (f"| `{option.written}`" in text) is (option.name not in FILLED_IN)


@pytest.mark.parametrize("view", VIEWS)
def test_every_column_has_its_row_and_a_meaning(pages: dict[str, str], view: str) -> None:
    text = section(pages["reference/store.md"], view)
    if view == "items_all":
        assert "columns of `items`" in text
        return
    for column in ALL_SCHEMAS[view].names:
        row = next((line for line in text.splitlines() if line.startswith(f"| `{column}` |")), "")
        assert row.split("|")[3].strip(), f"{view}.{column}: give it a meaning in docs/columns.yaml"


def test_no_meaning_is_left_of_a_column_that_is_gone() -> None:
    meanings = yaml.safe_load((generate.DOCS / "columns.yaml").read_text(encoding="utf-8"))
    everywhere = {column for schema in ALL_SCHEMAS.values() for column in schema.names}
    assert set(meanings["shared"]) <= everywhere
    for view in meanings.keys() - {"shared"}:
        assert set(meanings[view]) <= set(ALL_SCHEMAS[view].names)


def test_every_public_name_is_in_the_python_reference(pages: dict[str, str]) -> None:
    page = pages["reference/python.md"]
    for module, names in generate.PUBLIC.values():
        for name in names or generate.public_names(module):
            assert f"::: {generate.place_of(module, name)}\n" in page


def test_the_pages_are_those_of_the_code(pages: dict[str, str]) -> None:
    kept = {str(page.relative_to(generate.DOCS)): page.read_text(encoding="utf-8") for page in REFERENCE.glob("*.md")}
    assert kept.keys() == pages.keys()

    assert [name for name in pages if kept[name] != pages[name]] == [], "write them anew: .venv/bin/python -m docs.generate"


@pytest.mark.slow
def test_the_picture_of_the_rooms_is_that_of_the_imports() -> None:
    assert picture.PICTURE.read_text(encoding="utf-8") == picture.draw(), "the rooms changed: make picture"


@pytest.mark.slow
def test_the_picture_has_every_room_and_only_imports_that_exist() -> None:
    house = picture.House()
    assert set(house.rooms) == {room for row in picture.layers() for room in row}
    assert set(house.arrows) <= house.imports
    assert all(house.rooms[above].top < house.rooms[below].top for above, below in house.arrows)


@each_row(
    ("schema", "words"),
    [
        pytest.param({"type": "integer", "minimum": 1, "maximum": 1024}, "integer, 1 to 1,024", id="range"),
        pytest.param({"type": "number", "exclusiveMinimum": 0}, "number, above 0", id="above"),
        pytest.param({"anyOf": [{"type": "string"}, {"type": "null"}]}, "text", id="optional"),
        pytest.param({"type": "array", "items": {"enum": ["a", "b"]}}, "list of one of `a`, `b`", id="choices"),
        pytest.param({}, "any JSON value", id="anything"),
    ],
)
def test_types_are_put_into_words(schema: dict[str, object], words: str) -> None:
    assert type_words(schema) == words


def test_every_key_of_several_evaluators_has_its_row(pages: dict[str, str]) -> None:
    text = section(pages["reference/scorers.md"], "Several evaluators")
    keys = [field.alias or name for name, field in EvaluatorEntry.model_fields.items()]
    for key in [*keys, "costOrder"]:
        [*_, row] = [line for line in text.splitlines() if line.startswith(f"| `{key}` |")]
        assert all(cell.strip() for cell in row.strip("|").split(" | ")), row
