"""The explained configuration: complete, valid as it stands, and valid with every line of it switched on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic.fields import FieldInfo

from eval_skills.core.config import Config, load_config, set_in_file
from eval_skills.core.config.keys import is_model, known_leaves
from eval_skills.core.models import Model, Weights
from eval_skills.scaffolding.commented_config import commented_config
from eval_skills.scorers.task_scoring.verdict import DEFAULT_WEIGHTS
from tests.tables import each_row

OWN = {"benchmark": "mine", "skillsDir": "./agents"}
TEXT = commented_config(OWN)
SWITCHED_ON = re.sub(r"(?m)^( *)#(?=\S)", r"\1", TEXT)
"""Keys have no space after their #, explanations do."""


def fields_of(model: type[Model], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        yield f"{prefix}{name}", field
        if is_model(field.annotation):
            yield from fields_of(field.annotation, f"{name}.")


def test_it_says_the_projects_keys_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "eval-skills.config.yaml").write_text(TEXT)
    layers = load_config({}, environ={}, cwd=tmp_path, home=tmp_path / "home")
    defaults = load_config({}, environ={}, cwd=tmp_path, home=tmp_path / "home", config_path=_empty(tmp_path))
    assert layers.flat() == defaults.flat() | {"benchmark": "mine", "skillsDir": str(tmp_path / "agents")}
    assert {key for key in layers.flat() if layers.origin(key) != "default"} == OWN.keys()


def _empty(folder: Path) -> Path:
    (folder / "empty.yaml").touch()
    return folder / "empty.yaml"


def test_every_key_occurs_once_with_its_default_or_an_example() -> None:
    said, defaults = yaml.safe_load(SWITCHED_ON), Config().to_json()
    assert said.keys() == {*defaults, "run"}  # the example of a command's own group
    del said["run"]
    Config.model_validate(said)
    for leaf, _ in known_leaves():
        default, value = _at(defaults, leaf), _at(said, leaf)
        assert value is not None, leaf
        assert value == default or default in (None, [], {}) or leaf[0] in OWN, leaf


def _at(document: Any, leaf: tuple[str, ...]) -> Any:
    for part in leaf:
        document = document[part]
    return document


@each_row(("name", "field"), [*fields_of(Config)], ids=lambda it: it if isinstance(it, str) else "")
def test_every_key_is_explained(name: str, field: FieldInfo) -> None:
    assert field.description, f"{name} needs a description: it is what a new project's configuration says of it"
    assert not field.description.endswith(".")
    assert " ".join(field.description.split())[:40] in TEXT


def test_rules_are_told() -> None:
    assert "# Items at a time (from 1 to 1,024).\n#concurrency: 4\n" in TEXT
    assert "(above 0 to 86,400,000)" in TEXT
    assert "(exact or normalised)" in TEXT


def test_the_example_weights_are_the_defaults() -> None:
    weights = yaml.safe_load(SWITCHED_ON)["weights"]
    assert Weights.model_validate(weights).named() == DEFAULT_WEIGHTS
    told = {name: f"; {weight} unless set" for name, weight in DEFAULT_WEIGHTS.items()}
    assert all(str(Weights.model_fields[name].description).endswith(words) for name, words in told.items())


@pytest.mark.slow
def test_the_group_of_a_command_is_shown_as_the_command_line_reads_it() -> None:
    from eval_skills.cli.app import app
    from eval_skills.cli.configuration import configuration_model

    assert yaml.safe_load(SWITCHED_ON)["run"]
    configuration_model(app).model_validate(yaml.safe_load(SWITCHED_ON))


@pytest.mark.parametrize(
    ("key", "text"),
    [("llm.model", "m"), ("weights.toolAccuracy", "1"), ("toolCategories.pay", '["x"]'), ("runs", "3"), ("benchmark", "other")],
)
def test_config_set_leaves_every_explanation(tmp_path: Path, key: str, text: str) -> None:
    file = tmp_path / "eval-skills.config.yaml"
    file.write_text(TEXT)
    set_in_file(file, key, text)
    lost = [line for line in TEXT.splitlines() if line.lstrip().startswith("#") and line not in file.read_text().splitlines()]
    assert [line for line in lost if not line.startswith(f"#{key}:")] == []  # that one is no comment any more


def test_lines_fit_a_page() -> None:
    assert max(map(len, TEXT.splitlines())) <= 120


@pytest.mark.slow
@each_row("value", ["yes", "1e3", "a: b", "#x", "ünï", "with space", "'"])
def test_a_value_is_written_so_that_it_reads_back(value: str) -> None:
    assert yaml.safe_load(commented_config({"benchmark": value}))["benchmark"] == value
