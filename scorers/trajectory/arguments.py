"""How the arguments of two calls of one tool are compared: always the output's against the reference's; by a mode, by the values
at some paths, or by a function of the caller's, for all tools or for single ones.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from inspect import isawaitable, iscoroutinefunction
from typing import Any, Literal, Protocol, cast, get_args

from eval_skills.core.documents.json_equality import json_equal, same_scalar
from eval_skills.core.errors import InputError, ScorerError
from eval_skills.core.text import nearest, one_line
from eval_skills.scorers.trajectory.calls import Call, Spelling, shown

Arguments = dict[str, Any]
ArgumentsMode = Literal["exact", "ignore", "subset", "superset"]
ArgumentsMatcher = Callable[[Arguments, Arguments], Any]


class ArgumentsRule(Protocol):
    """Decides whether arguments match, and says where they do not."""

    @property
    def is_equivalence(self) -> bool:
        """Whether matching is symmetric and transitive, so that any first fit among equal tools is a best one."""
        ...

    def holds(self, output: Arguments, reference: Arguments) -> bool:
        """Whether the output's arguments match the reference's."""
        ...

    def differences(self, output: Arguments, reference: Arguments) -> list[str]:
        """One phrase for each difference; empty where they match."""
        ...


@dataclass(frozen=True, slots=True)
class ByMode:
    """`exact`: equal as JSON. `ignore`: always. `subset`: each of the output's keys is in the reference with an equal value;
    `superset`: the reverse. Values are compared whole, unless `deep`: then objects inside are compared by the same mode, and
    those in lists place by place.
    """

    mode: ArgumentsMode
    deep: bool = False

    @property
    def is_equivalence(self) -> bool:
        return self.mode in ("exact", "ignore")

    def holds(self, output: Arguments, reference: Arguments) -> bool:
        if self.mode == "exact":
            return json_equal(output, reference)
        if self.mode == "ignore":
            return True
        part, whole = (output, reference) if self.mode == "subset" else (reference, output)
        return all(key in whole and self._same(value, whole[key]) for key, value in part.items())

    def differences(self, output: Arguments, reference: Arguments) -> list[str]:
        if self.mode == "ignore":
            return []
        part, whole = (output, reference) if self.mode == "subset" else (reference, output)
        keys = dict.fromkeys([*reference, *output]) if self.mode == "exact" else part
        differ = (key for key in keys if key not in part or key not in whole or not self._same(part[key], whole[key]))
        return [_difference(str(key), output.get(key, ABSENT), reference.get(key, ABSENT)) for key in differ]

    def _same(self, part: Any, whole: Any) -> bool:
        return contains_deeply(part, whole) if self.deep and self.mode != "exact" else json_equal(part, whole)


@dataclass(frozen=True, slots=True)
class ByKeyPaths:
    """The values at these paths are there on both sides and equal; everything else is free."""

    paths: tuple[KeyPath, ...]

    @property
    def is_equivalence(self) -> bool:
        return True

    def holds(self, output: Arguments, reference: Arguments) -> bool:
        return next(self._failing(output, reference), None) is None

    def differences(self, output: Arguments, reference: Arguments) -> list[str]:
        # a path that is on neither side may be a typing error: it does not match, and says so
        return [_difference(path.written, one, other) for path, one, other in self._failing(output, reference)]

    def _failing(self, output: Arguments, reference: Arguments) -> Iterator[tuple[KeyPath, Any, Any]]:
        for path in self.paths:
            one, other = path.value(output), path.value(reference)
            if one is ABSENT or other is ABSENT or not json_equal(one, other):
                yield path, one, other


@dataclass(frozen=True, slots=True)
class ByFunction:
    """A function of the caller's decides; it gets copies, and may be called in any order.

    Raises:
        ScorerError: when it is called and raises, or returns anything but true or false (NumPy's are fine).
    """

    tool: str
    function: ArgumentsMatcher

    @property
    def is_equivalence(self) -> bool:
        return False

    def holds(self, output: Arguments, reference: Arguments) -> bool:
        try:
            answer = self.function(copy.deepcopy(output), copy.deepcopy(reference))
            if isawaitable(answer):  # a coroutine would count as true
                getattr(answer, "close", bool)()
                raise TypeError("it is asynchronous; give a plain function")
            if not _is_bool(answer):
                raise TypeError(f"it returned {one_line(repr(answer), 80)}; return True or False")
            return bool(answer)
        except Exception as error:
            said = one_line(f"{type(error).__name__}: {error}")
            raise ScorerError(f"the argument matcher of tool {self.tool!r} failed: {said}") from error

    def differences(self, output: Arguments, reference: Arguments) -> list[str]:
        # both sides, since it is not known what the function looked at
        return [f"refused by its matcher, expected {shown(reference)}, got {shown(output)}"]


def contains_deeply(part: Any, whole: Any) -> bool:
    """Whether `part` lies within `whole`: objects by their keys at any depth, lists place by place, scalars by JSON equality."""
    pairs = [(part, whole)]
    while pairs:  # a stack of its own: arguments may be nested deeper than Python recurses
        one, other = pairs.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            if not one.keys() <= other.keys():
                return False
            pairs.extend((value, other[key]) for key, value in one.items())
        elif isinstance(one, list | tuple) and isinstance(other, list | tuple):
            if len(one) != len(other):
                return False
            pairs.extend(zip(one, other, strict=True))
        elif isinstance(one, dict | list | tuple) or isinstance(other, dict | list | tuple) or not same_scalar(one, other):
            return False
    return True


def _is_bool(answer: Any) -> bool:
    kind = type(answer)
    return kind is bool or (kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_"))


def _difference(name: str, output: Any, reference: Any) -> str:
    key = one_line(name, 80)
    if output is ABSENT and reference is ABSENT:
        return f"{key} is on neither side"
    expected = "nothing" if reference is ABSENT else shown(reference)
    return f"{key} expected {expected}, got {'nothing' if output is ABSENT else shown(output)}"


ABSENT = object()
"""The value of a path that leads nowhere."""

_DOT = re.compile(r"(?<!\\)\.")


@dataclass(frozen=True, slots=True)
class KeyPath:
    r"""A path such as ``filter.dates.0``: dots walk objects, whole numbers walk lists, ``\.`` is a dot in a name."""

    written: str
    steps: tuple[str, ...]

    @classmethod
    def of(cls, written: object) -> KeyPath:
        """The path that is written so.

        Raises:
            InputError: it is not text, or blank.
        """
        if not isinstance(written, str) or not written.strip():
            raise InputError(f"{written!r} is not a key path; write one such as 'query' or 'filter.dates.0'")
        return cls(written, tuple(step.replace("\\.", ".") for step in _DOT.split(written)))

    def value(self, arguments: Any) -> Any:
        """What the path leads to, which may be null, or `ABSENT`."""
        for step in self.steps:
            if isinstance(arguments, dict) and step in arguments:
                arguments = arguments[step]
            elif isinstance(arguments, list | tuple) and _is_place(step) and int(step) < len(arguments):
                arguments = arguments[int(step)]
            else:
                return ABSENT
        return arguments


def _is_place(step: str) -> bool:
    return step.isascii() and step.isdigit() and len(step) < 10


ARGUMENTS_MODES: tuple[str, ...] = get_args(ArgumentsMode)
Override = ArgumentsMode | list[str] | ArgumentsMatcher
Overrides = Mapping[str, Override]


@dataclass(frozen=True, slots=True)
class ArgumentsRules:
    """The rule of every tool, and the rule of single ones by their names."""

    default: ArgumentsRule
    of_tools: Mapping[str, ArgumentsRule] = field(default_factory=dict)

    def of(self, tool: str) -> ArgumentsRule:
        """The rule of a tool, by the name that is compared."""
        return self.of_tools.get(tool, self.default)

    def holds(self, output: Call, reference: Call) -> bool:
        """Whether two calls of one tool match. Malformed arguments match only where arguments are ignored."""
        rule = self.of_tools.get(output.name, self.default)
        if output.arguments is None or reference.arguments is None:
            return rule == _IGNORE
        return rule.holds(output.arguments, reference.arguments)


def rules_of(mode: Any, overrides: Any = None, *, deep: bool = False, spelling: Spelling | None = None) -> ArgumentsRules:
    """The rules that a caller or a benchmark has written.

    An override is a mode, a list of key paths (an empty one compares nothing) or a function of (output's arguments,
    reference's arguments); it replaces the mode for its tool. None is no overrides. `deep` is that of `ByMode`.

    Raises:
        InputError: a mode or an override is none of these; `path` names the tool.
    """
    default = _by_mode(mode, deep, "the arguments mode")
    if overrides is not None and not isinstance(overrides, Mapping):
        raise InputError(f"expected an object of tools' names, got {overrides!r}", path="overrides")
    named: dict[str, ArgumentsRule] = {}
    for tool, override in (overrides or {}).items():
        try:
            named[spelling(str(tool)) if spelling else str(tool)] = _rule_of(str(tool), override, deep)
        except InputError as error:
            raise InputError(error.message, path=f"overrides.{tool}") from error
    return ArgumentsRules(default, named)


_IGNORE = ByMode("ignore")


def _rule_of(tool: str, override: Any, deep: bool) -> ArgumentsRule:
    if isinstance(override, str):
        return _by_mode(override, deep, "the override")
    if isinstance(override, list | tuple):
        return ByKeyPaths(tuple(map(KeyPath.of, override))) if override else _IGNORE
    if callable(override) and not iscoroutinefunction(override):
        return ByFunction(tool, override)
    valid = f"give a mode ({', '.join(ARGUMENTS_MODES)}), a list of key paths or a plain function"
    raise InputError(f"the override is {override!r}; {valid}")


def _by_mode(mode: Any, deep: bool, what: str) -> ByMode:
    if mode == "ignore":
        return _IGNORE
    if not isinstance(mode, str) or mode not in ARGUMENTS_MODES:
        hint = nearest(mode, ARGUMENTS_MODES) if isinstance(mode, str) else ""
        raise InputError(f"{what} is {mode!r}{hint}; valid are {', '.join(ARGUMENTS_MODES)}")
    return ByMode(cast("ArgumentsMode", mode), deep)
