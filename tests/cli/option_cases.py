"""Every option of every command, read off the commands themselves, and the calls that give each a value.

A new command or option is among them without being named here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
from cyclopts import App

from eval_skills.cli.app import app, new_invocation
from eval_skills.cli.configuration import Mark, Option, options_of
from eval_skills.cli.context import Command, begin
from eval_skills.core.config import Config
from eval_skills.core.config.layers import variable_of

FILE = "eval-skills.config.yaml"


def commands_of(app: App, above: Command = ()) -> Iterator[tuple[Command, App]]:
    """Every command of the app that does something, in the order of the help."""
    for name in app:
        if not name.startswith("-"):
            command, inner = (*above, name), app[name]
            if inner.default_command is not None:
                yield command, inner
            yield from commands_of(inner, command)


ARGUMENTS = {command: inner.assemble_argument_collection() for command, inner in commands_of(app)}
KNOWN = {command: [Option(command, each) for each in arguments] for command, arguments in ARGUMENTS.items()}
OPTIONS = [option for command, arguments in ARGUMENTS.items() for option in options_of(command, arguments)]
TOP_LEVEL = {field.alias or name for name, field in Config.model_fields.items()}


SPECIAL: dict[str, tuple[Any, Any, Any]] = {
    "taskRunner": ("local", "dask://127.0.0.1:8786", "ray"),
    "map": (["a=b"], ["a=c", "d=e"], ["f=g"]),
    "rate": ("60/min", "10/s", "1000/h"),
    "itemsPerTask": ("auto", 5, 7),
    "openFiles": (64, 65, 66),
    "sandboxProcesses": (64, 65, 66),
    "since": ("2026-01-31", "2026-02-01", "2026-02-02"),
    "until": ("2026-01-31", "2026-02-01", "2026-02-02"),
}


def text_of(option: Option) -> str:
    return " ".join((*option.command, option.name))


def kind_of(option: Option) -> str:
    """What is special about reading its value: the rules hold for each kind, however many options are of it."""
    if option.has(Mark.ID_OR_PATH) or option.key == "benchmark":
        return "id or path"
    hint = next((part for part in get_args(option.argument.hint) if part is not type(None)), option.argument.hint)
    hint = hint if type(None) in get_args(option.argument.hint) else option.argument.hint
    if str(get_origin(hint)) == "typing.Literal":
        return "choice"
    if get_origin(hint) is list:
        return "list"
    if hint is Path or option.has(Mark.PATH):
        return "path"
    return {bool: "flag", int: "int", float: "float", str: "text"}.get(hint, "converted")


def one_of_each_kind(options: list[Option]) -> list[Option]:
    """The first option of every kind; of those that stand in a group of options, and of those that are given by place, too."""
    firsts: dict[tuple[str, bool], Option] = {}
    for option in options:
        firsts.setdefault((kind_of(option), option.name.startswith("--")), option)
    return list(firsts.values())


SHARED = [each for each in OPTIONS if each.is_shared]
every_option = pytest.mark.parametrize("option", one_of_each_kind(OPTIONS), ids=text_of)
every_shared_option = pytest.mark.parametrize("option", one_of_each_kind(SHARED), ids=text_of)


def values_of(option: Option) -> tuple[Any, Any, Any]:
    """Three values that differ from each other (as far as the type allows) and from the default."""
    special = None if kind_of(option) in ("choice", "float") else SPECIAL.get(option.key)  # monitor has a rate of its own
    return special or _values(option.argument.hint)


def _values(hint: Any) -> tuple[Any, Any, Any]:
    parts = [part for part in get_args(hint) if part is not type(None)]
    if type(None) in get_args(hint):
        return _values(parts[0])
    if get_origin(hint) is list:
        first, second, third = _values(parts[0])
        return [first], [second, third], [third]
    if parts:  # the choices of a Literal
        return parts[0], parts[-1], parts[len(parts) // 2]
    known: dict[Any, tuple[Any, Any, Any]] = {bool: (True, False, True), int: (3, 5, 7), float: (0.25, 0.5, 0.75)}
    return known.get(hint, ("/a/one", "/a/two", "/a/three"))


def typed(option: Option, value: Any) -> list[str]:
    """What is typed to give the option this value."""
    if isinstance(value, bool):
        return [option.name if value else f"{option.name}=false"]
    texts = [str(part) for part in value] if isinstance(value, list) else [str(value)]
    return texts if not option.name.startswith("--") else [option.name, *texts]


def called_with(command: Command, arguments: list[str]) -> dict[str, Any]:
    """All that the command would be called with; nothing is called."""
    begin(new_invocation())
    return dict(app.parse_args([*command, *arguments], exit_on_error=False, print_error=False)[1].arguments)


@dataclass(frozen=True)
class Case:
    """An option in its command: what must be typed beside it, and what follows it by place."""

    option: Option

    @property
    def _others(self) -> list[Option]:
        return [each for each in KNOWN[self.option.command] if each.argument.required and each.name != self.option.name]

    @property
    def _behind(self) -> list[Option]:
        place = self.option.argument.index
        return [each for each in self._others if place is not None and (each.argument.index or -1) > place]

    def arguments(self, value: Any = None) -> list[str]:
        """The arguments of a call; `value` None leaves the option (and what stands behind it) out."""
        ahead = [each for each in self._others if each not in self._behind]
        given = [part for each in ahead for part in typed(each, values_of(each)[0])]
        if value is None:
            return given
        return [*given, *typed(self.option, value), *(part for each in self._behind for part in typed(each, values_of(each)[0]))]

    def configuration(self, value: Any, leaf: Command | None = None) -> str:
        """A file that says so."""
        document: dict[str, Any] = {}
        for key, each in [(leaf or self.option.leaf, value), *((each.leaf, values_of(each)[0]) for each in self._behind)]:
            level = document
            for part in key[:-1]:
                level = level.setdefault(part, {})
            level[key[-1]] = each
        return json.dumps(document)

    def variables(self, value: Any, leaf: Command | None = None) -> dict[str, str]:
        """The variables that say so."""
        said = [(leaf or self.option.leaf, value), *((each.leaf, values_of(each)[0]) for each in self._behind)]
        return {variable_of(key): each if isinstance(each, str) else json.dumps(each) for key, each in said}

    def call(self, value: Any = None) -> dict[str, Any]:
        return called_with(self.option.command, self.arguments(value))
