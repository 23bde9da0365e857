"""Every option of every command can come from the configuration, and does what the typed one does.

What is compared is all that a command would be called with: typed, from the project's file, and from a variable.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cyclopts import MissingArgumentError

from eval_skills.cli.app import app
from eval_skills.cli.configuration import UNCONFIGURED, Option, configuration_model
from eval_skills.cli.context import current
from eval_skills.core.config.keys import known_leaves
from tests.cli.option_cases import (
    FILE,
    KNOWN,
    OPTIONS,
    SHARED,
    TOP_LEVEL,
    Case,
    called_with,
    every_option,
    every_shared_option,
    kind_of,
    text_of,
    values_of,
)


def assert_the_file_does_what_the_flag_does(case: Case, folder: Path) -> None:
    value, *_ = values_of(case.option)
    wanted = case.call(value)
    (folder / FILE).write_text(case.configuration(value))
    assert case.call() == wanted


@every_option
def test_p58_the_projects_file_gives_it_as_the_flag_would(folder: Path, option: Option) -> None:
    assert_the_file_does_what_the_flag_does(Case(option), folder)
    assert current().configured[option.name] == f"{folder / FILE}: {'.'.join(option.leaf)}"


@every_option
def test_p58_so_does_the_variable_and_it_beats_the_file(folder: Path, option: Option, monkeypatch: pytest.MonkeyPatch) -> None:
    case, (first, second, _) = Case(option), values_of(option)
    wanted = case.call(second)
    (folder / FILE).write_text(case.configuration(first))
    for name, text in case.variables(second).items():
        monkeypatch.setenv(name, text)
    assert case.call() == wanted


@pytest.mark.slow
@every_option
def test_p58_so_does_the_file_at_home_and_the_projects_beats_it(folder: Path, option: Option) -> None:
    case, (first, second, _) = Case(option), values_of(option)
    home = folder / "home" / ".eval-skills" / "config.yaml"
    home.parent.mkdir(parents=True)
    home.write_text(case.configuration(first))
    assert case.call() == case.call(first)
    (folder / FILE).write_text(case.configuration(second))
    assert case.call() == case.call(second)


@every_option
def test_p58_what_is_typed_beats_file_and_variable(folder: Path, option: Option, monkeypatch: pytest.MonkeyPatch) -> None:
    case, (first, second, third) = Case(option), values_of(option)
    wanted = case.call(third)
    (folder / FILE).write_text(case.configuration(first))
    for name, text in case.variables(second).items():
        monkeypatch.setenv(name, text)
    assert case.call(third) == wanted
    assert option.name not in current().configured


@every_option
def test_without_a_configuration_the_value_is_another_one(folder: Path, option: Option) -> None:
    """What the tests above compare is not what the command would be called with anyhow."""
    case, (first, *_) = Case(option), values_of(option)
    with_it = case.call(first)
    try:
        assert case.call() != with_it
    except MissingArgumentError:
        assert option.argument.required


@pytest.mark.slow
@every_shared_option
def test_the_key_at_the_top_level_holds_for_it_too(folder: Path, option: Option, monkeypatch: pytest.MonkeyPatch) -> None:
    case, (first, second, _) = Case(option), values_of(option)
    (folder / FILE).write_text(case.configuration(first, (option.key,)))
    assert case.call() == case.call(first)
    (folder / FILE).write_text(
        json.dumps(json.loads(case.configuration(first, (option.key,))) | json.loads(case.configuration(second)))
    )
    assert case.call() == case.call(second), "in one file the command's own key wins"
    monkeypatch.setenv(*next(iter(case.variables(first, (option.key,)).items())))
    assert case.call() == case.call(first), "a variable beats the file, whichever key it is"


def test_p58_the_proof_fails_where_the_configuration_is_not_asked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "config", ())
    case = Case(next(option for option in OPTIONS if option.leaf == ("trend", "metric")))
    with pytest.raises(AssertionError):
        assert_the_file_does_what_the_flag_does(case, folder)


def test_nothing_is_left_out_without_a_reason() -> None:
    arguments = {(*command, each.name) for command, known in KNOWN.items() for each in known if each.argument.names[0] != "*"}
    assert arguments - {(*option.command, option.name) for option in OPTIONS} == set(UNCONFIGURED)
    assert all(UNCONFIGURED.values())


@pytest.mark.slow
def test_every_option_has_a_key_that_gives_it_its_value(folder: Path) -> None:
    """The rules above hold for every option, since each is read in the one way: its key is known, and reaches the command."""
    known = {leaf for leaf, _ in known_leaves(configuration_model(app))}
    assert {option.leaf for option in OPTIONS} <= known
    for command in KNOWN:
        options = [option for option in OPTIONS if option.command == command]
        document: dict[str, Any] = {}
        for option in options:
            level = document
            for part in command:
                level = level.setdefault(part, {})
            level[option.key] = values_of(option)[0]
        (folder / FILE).write_text(json.dumps(document))
        if not options:
            continue
        called_with(command, ["x" for unconfigured in UNCONFIGURED if unconfigured[:-1] == command])
        assert current().configured.keys() - {"--json", "--no-color", "--verbose"} == {option.name for option in options}


def test_who_shares_a_name_with_the_top_level_shares_its_value_or_says_why_not() -> None:
    for option in OPTIONS:
        if option.own is not None:
            assert option.key in TOP_LEVEL, f"{text_of(option)} need not say that"
            assert len(option.own.reason.split()) > 3, text_of(option)
    assert {kind_of(option) for option in SHARED} >= {"flag", "int", "float", "text", "list", "choice", "path"}
