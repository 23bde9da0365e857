"""Do the calls fit the expected ones? BFCL's rule for one call, and how several are paired."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from eval_skills.scorers.bfcl.values import Fault, Parameter, argument_fault, may_be_absent

WRONG_FUNCTION = "simple_function_checker:wrong_func_name"


class Called(NamedTuple):
    """A call that was made, and its place among the calls of the answer."""

    name: str
    arguments: Mapping[str, Any]
    place: int


@dataclass(frozen=True, slots=True)
class Expected:
    """A call that is expected: the function's name and parameters, and the allowed values of each argument."""

    name: str
    parameters: Mapping[str, Parameter]
    required: Sequence[str]
    allowed: Mapping[str, list[Any]]

    def is_named(self, name: str) -> bool:
        """Whether this is the function's name, with its dots or with ``_`` for them, as interfaces of models want it."""
        return name in (self.name, self.name.replace(".", "_"))

    def faults(self, call: Called) -> Iterator[Fault]:
        """Everything for which the call does not fit, in the order in which the official checker looks; it stops at the first."""
        if not self.is_named(call.name):
            yield Fault(WRONG_FUNCTION, f"expected a call of {self.name!r}, got {call.name!r}")
            return
        for name in self.required:
            if name not in call.arguments:
                yield Fault("simple_function_checker:missing_required", f"the required parameter {name!r} is missing")
        for name, value in call.arguments.items():
            if name not in self.parameters or name not in self.allowed:
                yield Fault("simple_function_checker:unexpected_param", f"the parameter {name!r} is not expected")
            elif (fault := argument_fault(name, value, self.allowed[name], self.parameters[name])) is not None:
                yield fault
        for name, allowed in self.allowed.items():
            if name not in call.arguments and name not in self.required and not may_be_absent(allowed):
                yield Fault("simple_function_checker:missing_optional", f"the parameter {name!r} is missing")


Fits = Sequence[Sequence[bool]]
"""For each expected call, in order, which of the calls fit it."""


def fits_of(expected: Sequence[Expected], calls: Sequence[Called]) -> Fits:
    """Which calls fit which expected ones."""
    return [[next(each.faults(call), None) is None for call in calls] for each in expected]


def first_fit(fits: Fits) -> bool:
    """Whether every expected call finds one, when each in order takes the first free one that fits: the published rule.

    It may fail where another pairing would not, since the first to choose may take what only a later one can use.
    """
    taken: set[int] = set()
    for row in fits:
        free = next((place for place, fit in enumerate(row) if fit and place not in taken), None)
        if free is None:
            return False
        taken.add(free)
    return True


def largest_matching(fits: Fits) -> dict[int, int]:
    """A pairing of as many expected calls as can be paired, as expected → call, by augmenting paths (Berge 1957)."""
    partner: dict[int, int] = {}
    for index in range(len(fits)):
        _augment(fits, index, partner, set())
    return {index: place for place, index in partner.items()}


def _augment(fits: Fits, index: int, partner: dict[int, int], seen: set[int]) -> bool:
    for place, fit in enumerate(fits[index]):
        if fit and place not in seen:
            seen.add(place)
            if place not in partner or _augment(fits, partner[place], partner, seen):
                partner[place] = index
                return True
    return False
