"""Which calls of two trajectories belong together: as many pairs as possible."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence

from eval_skills.scorers.trajectory.arguments import ArgumentsRules
from eval_skills.scorers.trajectory.calls import Call

_UNKNOWN, _NO, _YES = range(3)
_MANY_PAIRS = 1_000
"""Beyond so many pairs it pays to find out which calls are the same."""


class Pairing:
    """The calls of both sides, by place, and what is known of which fit together: no pair is compared twice, and of equal
    calls only one is compared.
    """

    def __init__(self, outputs: Sequence[Call], references: Sequence[Call], rules: ArgumentsRules) -> None:
        self.outputs, self.references, self.rules = outputs, references, rules
        many = len(outputs) * len(references) > _MANY_PAIRS
        self._first_outputs = _first_alike(outputs) if many else range(len(outputs))
        self._first_references = _first_alike(references) if many else range(len(references))
        self._known: dict[int, bytearray] = {}
        self._found: dict[tuple[tuple[int, ...], tuple[int, ...]], dict[int, int]] = {}

    def fits(self, output: int, reference: int) -> bool:
        """Whether these two calls match: the same tool, and arguments as its rule says."""
        output, reference = self._first_outputs[output], self._first_references[reference]
        row = self._known.get(output)
        if row is None:
            row = self._known[output] = bytearray(len(self.references))
        if row[reference] == _UNKNOWN:
            one, other = self.outputs[output], self.references[reference]
            row[reference] = _YES if one.name == other.name and self.rules.holds(one, other) else _NO
        return row[reference] == _YES

    def matched(self, outputs: Sequence[int], references: Sequence[int]) -> dict[int, int]:
        """A largest one-to-one matching among the calls at these places, from output to reference.

        First fit, then augmenting paths from what that left over (Berge 1957): first fit alone may use up the only call that
        another one needs. Where a tool's rule is an equivalence, first fit is a largest matching already.
        """
        key = (tuple(outputs), tuple(references))
        if key not in self._found:
            self._found[key] = self._largest(outputs, references)
        return self._found[key]

    def _largest(self, outputs: Sequence[int], references: Sequence[int]) -> dict[int, int]:
        free = self._by_tool(references)
        partner: dict[int, int] = {}
        left: dict[str, list[int]] = {}
        for place in outputs:
            name = self.outputs[place].name
            places = free.get(name, [])
            for index, reference in enumerate(places):
                if self.fits(place, reference):
                    partner[reference] = place
                    del places[index]
                    break
            else:
                left.setdefault(name, []).append(place)
        for name, places in left.items():
            if free.get(name) and not self.rules.of(name).is_equivalence:
                self._augment(places, self._by_tool(references)[name], partner)
        return {output: reference for reference, output in partner.items()}

    def _by_tool(self, references: Sequence[int]) -> dict[str, list[int]]:
        of_tool: dict[str, list[int]] = {}
        for place in references:
            of_tool.setdefault(self.references[place].name, []).append(place)
        return of_tool

    def _augment(self, left: list[int], candidates: list[int], partner: dict[int, int]) -> None:
        """From each output that is left over, find a path of pairs and non-pairs in turn to a free reference, the shortest first,
        and swap along it. What a failed search has reached leads nowhere for the later ones either.

        Sets of references are bits of integers, so that a search looks at each reference once, not at each pair.
        """
        rows: dict[int, int] = {}
        promising = (1 << len(candidates)) - 1
        for start in left:
            came_from: dict[int, int] = {}
            waiting, unseen = deque([start]), promising
            while waiting:
                output = waiting.popleft()
                if output not in rows:
                    rows[output] = self._row(output, candidates)
                reached = _places(rows[output] & unseen, candidates)
                unseen &= ~rows[output]
                came_from |= dict.fromkeys(reached, output)
                if (end := next((each for each in reached if each not in partner), None)) is not None:
                    _swap(end, start, came_from, partner)
                    break
                waiting.extend(partner[each] for each in reached)
            else:
                promising = unseen

    def _row(self, output: int, candidates: list[int]) -> int:
        """The candidates that an output fits, the first as the lowest bit."""
        return int("".join("1" if self.fits(output, each) else "0" for each in reversed(candidates)), 2)


def _first_alike(calls: Sequence[Call]) -> list[int]:
    """For each call the place of the first that is written like it."""
    first: dict[tuple[str, str], int] = {}
    return [first.setdefault((call.name, _written(call, place)), place) for place, call in enumerate(calls)]


def _written(call: Call, place: int) -> str:
    try:
        return json.dumps(call.arguments, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return f"#{place}"  # JSON cannot write it: equal to no other


def _places(bits: int, candidates: list[int]) -> list[int]:
    places = []
    while bits:
        lowest = bits & -bits
        places.append(candidates[lowest.bit_length() - 1])
        bits ^= lowest
    return places


def _swap(reference: int, start: int, came_from: dict[int, int], partner: dict[int, int]) -> None:
    held = {output: place for place, output in partner.items()}
    while True:
        output = came_from[reference]
        partner[reference] = output
        if output == start:
            return
        reference = held[output]
