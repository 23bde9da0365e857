"""How the arguments of two calls of one tool are compared: always the output's against the reference's.

The way to one value inside the arguments of a call.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, Literal, Protocol

from eval_skills.core.documents.json_equality import json_equal, same_scalar
from eval_skills.core.errors import InputError, ScorerError
from eval_skills.core.text import one_line
from eval_skills.scorers.trajectory.calls import shown

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
        """True of `exact` and `ignore`."""
        return self.mode in ("exact", "ignore")

    def holds(self, output: Arguments, reference: Arguments) -> bool:
        """As the mode says."""
        if self.mode == "exact":
            return json_equal(output, reference)
        if self.mode == "ignore":
            return True
        part, whole = (output, reference) if self.mode == "subset" else (reference, output)
        return all(key in whole and self._same(value, whole[key]) for key, value in part.items())

    def differences(self, output: Arguments, reference: Arguments) -> list[str]:
        """The top-level keys whose values do not match."""
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
        """True."""
        return True

    def holds(self, output: Arguments, reference: Arguments) -> bool:
        """Whether every path leads to equal values."""
        return next(self._failing(output, reference), None) is None

    def differences(self, output: Arguments, reference: Arguments) -> list[str]:
        """The paths that fail; one that is on neither side may be a typing error, and says so."""
        return [_difference(path.written, one, other) for path, one, other in self._failing(output, reference)]

    def _failing(self, output: Arguments, reference: Arguments) -> Iterator[tuple[KeyPath, Any, Any]]:
        for path in self.paths:
            one, other = path.value(output), path.value(reference)
            if one is ABSENT or other is ABSENT or not json_equal(one, other):
                yield path, one, other


@dataclass(frozen=True, slots=True)
class ByFunction:
    """A function of the caller's says so; it gets copies, and may be asked in any order.

    Raises:
        ScorerError: when it is called and raises, or answers with anything but true or false (NumPy's are fine).
    """

    tool: str
    function: ArgumentsMatcher

    @property
    def is_equivalence(self) -> bool:
        """False, for all we know."""
        return False

    def holds(self, output: Arguments, reference: Arguments) -> bool:
        """The function's answer."""
        try:
            answer = self.function(copy.deepcopy(output), copy.deepcopy(reference))
            if isawaitable(answer):  # which would be true whatever it comes to
                getattr(answer, "close", bool)()
                raise TypeError("it is asynchronous; give a plain function")
            if not _is_bool(answer):
                raise TypeError(f"it answered {one_line(repr(answer), 80)}; return True or False")
            return bool(answer)
        except Exception as error:
            said = one_line(f"{type(error).__name__}: {error}")
            raise ScorerError(f"the argument matcher of tool {self.tool!r} broke: {said}") from error

    def differences(self, output: Arguments, reference: Arguments) -> list[str]:
        """Both sides: what the function looked at is its own affair."""
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
"""What a path leads to where there is nothing."""

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
            InputError: it is no text, or blank.
        """
        if not isinstance(written, str) or not written.strip():
            raise InputError(f"{written!r} is no key path; write one such as 'query' or 'filter.dates.0'")
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
