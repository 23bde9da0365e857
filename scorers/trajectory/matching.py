"""Which calls of two trajectories belong together: as many pairs as there can be."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from eval_skills.scorers.trajectory.calls import Call
from eval_skills.scorers.trajectory.rules import ArgumentsRules


@dataclass(frozen=True, slots=True)
class Pairing:
    """The calls of both sides, by place, and what is known of which fit together: no pair is compared twice."""

    outputs: Sequence[Call]
    references: Sequence[Call]
    rules: ArgumentsRules
    _known: dict[tuple[int, int], bool] = field(default_factory=dict)

    def fits(self, output: int, reference: int) -> bool:
        """Whether these two calls match: the same tool, and arguments as its rule says."""
        known = self._known.get((output, reference))
        if known is None:
            one, other = self.outputs[output], self.references[reference]
            known = one.name == other.name and self.rules.holds(one, other)
            self._known[output, reference] = known
        return known

    def matched(self, outputs: Sequence[int], references: Sequence[int]) -> dict[int, int]:
        """A largest one-to-one matching among the calls at these places, from output to reference.

        First fit, then augmenting paths from what that left over (Berge 1957): first fit alone may give away the only call that
        another one needs. Where a tool's rule is an equivalence, first fit is a largest matching already.
        """
        of_tool: dict[str, list[int]] = {}
        for place in references:
            of_tool.setdefault(self.references[place].name, []).append(place)
        partner: dict[int, int] = {}
        left = [place for place in outputs if not self._first_fit(place, of_tool, partner)]
        if len(partner) < len(references):
            for place in left:
                name = self.outputs[place].name
                if name in of_tool and not self.rules.of(name).is_equivalence:
                    self._augment(place, of_tool[name], partner)
        return {output: reference for reference, output in partner.items()}

    def _first_fit(self, output: int, of_tool: dict[str, list[int]], partner: dict[int, int]) -> bool:
        for reference in of_tool.get(self.outputs[output].name, ()):
            if reference not in partner and self.fits(output, reference):
                partner[reference] = output
                return True
        return False

    def _augment(self, start: int, candidates: list[int], partner: dict[int, int]) -> None:
        """Find a path of pairs and non-pairs in turn from `start` to a free reference, the shortest first, and swap along it."""
        came_from: dict[int, int] = {}
        waiting = deque([start])
        while waiting:
            output = waiting.popleft()
            for reference in candidates:
                if reference not in came_from and self.fits(output, reference):
                    came_from[reference] = output
                    if reference not in partner:
                        _swap(reference, start, came_from, partner)
                        return
                    waiting.append(partner[reference])


def _swap(reference: int, start: int, came_from: dict[int, int], partner: dict[int, int]) -> None:
    held = {output: place for place, output in partner.items()}
    while True:
        output = came_from[reference]
        partner[reference] = output
        if output == start:
            return
        reference = held[output]
