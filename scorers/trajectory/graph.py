"""Graph trajectories: the nodes that a graph visited, turn by turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval_skills.core.text import excerpt, one_line
from eval_skills.scorers.trajectory.alignment import Aligned, aligned
from eval_skills.scorers.trajectory.comparison import Comparison, TrajectoryMode, agreement
from eval_skills.scorers.trajectory.edits import Edit
from eval_skills.scorers.trajectory.shapes import UnreadableTrajectory

Steps = list[list[str]]
"""Per turn of the conversation, the nodes in the order visited."""


def read_steps(given: Any, side: str) -> Steps:
    """The steps in `given`, which is left as it was.

    Accepted are a list of turns, each a list of nodes, ``{"steps": [...]}`` with anything beside it, a plain list of nodes as the
    only turn, None for no turn at all, and LangSmith's wrapping ``{"output": …}`` around any of them.

    Raises:
        UnreadableTrajectory: it is none of these; `side` names it.
    """
    if isinstance(given, Mapping):
        if "steps" in given:
            return read_steps(given["steps"], side)
        if len(given) == 1 and "output" in given:
            return read_steps(given["output"], side)
    if given is None:
        return []
    if isinstance(given, list | tuple):
        if given and all(isinstance(node, str) for node in given):
            return [list(given)]
        if all(isinstance(turn, list | tuple) and all(isinstance(node, str) for node in turn) for turn in given):
            return [list(turn) for turn in given]
    raise UnreadableTrajectory(
        f"expected a list of turns, each a list of nodes' names, or {{'steps': [...]}}, got {excerpt(given)}", source=side
    )


@dataclass(frozen=True, slots=True)
class GraphComparison:
    """Compares the nodes of an output with those of a reference.

    `strict`: as many turns, and the same nodes in the same order in each. The others count nodes, whatever their turn and order:
    `unordered` the same nodes as often, `superset` each reference node at least as often, `subset` no output node more often.
    """

    mode: TrajectoryMode

    def compare(self, output: Steps, reference: Steps) -> Comparison:
        """The comparison of two trajectories, which may be empty."""
        outputs, references = [node for turn in output for node in turn], [node for turn in reference for node in turn]
        figures = agreement((Counter(outputs) & Counter(references)).total(), outputs, references)
        edits = turn_edits(output, reference) if self.mode == "strict" else self._node_edits(outputs, references)
        return Comparison(not edits, edits, figures)

    def _node_edits(self, outputs: list[str], references: list[str]) -> list[Edit]:
        missing = Counter(references) - Counter(outputs) if self.mode != "subset" else Counter()
        extra = Counter(outputs) - Counter(references) if self.mode != "superset" else Counter()
        return [*(_missing(node) for node in missing.elements()), *(_extra(node) for node in extra.elements())]


def turn_edits(output: Steps, reference: Steps) -> list[Edit]:
    """The smallest edit, turn by turn: a node that is missing, extra or another one costs 1, and so does an empty turn."""
    if output == reference:
        return []
    path = aligned(
        len(output),
        len(reference),
        pair=lambda one, other: 0 if output[one] == reference[other] else len(_changes(output[one], reference[other])),
        extra=lambda place: len(output[place]) or 1,
        missing=lambda place: len(reference[place]) or 1,
    )
    edits: list[Edit] = []
    for one, other in path:
        if one is None and other is not None:
            edits.append(_missing(f"turn {other + 1} ({_shown(reference[other])})"))
        elif one is not None and other is None:
            edits.append(_extra(f"turn {one + 1} ({_shown(output[one])})"))
        elif one is not None and other is not None:
            edits += [_in_turn(one, output[one], reference[other], *each) for each in _changes(output[one], reference[other])]
    return edits


def _changes(turn: Sequence[str], expected: Sequence[str]) -> Aligned:
    path = aligned(
        len(turn),
        len(expected),
        pair=lambda one, other: int(turn[one] != expected[other]),
        extra=lambda _: 1,
        missing=lambda _: 1,
    )
    return [(one, other) for one, other in path if one is None or other is None or turn[one] != expected[other]]


def _in_turn(place: int, turn: Sequence[str], expected: Sequence[str], one: int | None, other: int | None) -> Edit:
    if one is None:
        edit = _missing(expected[other or 0])
    elif other is None:
        edit = _extra(turn[one])
    else:
        edit = Edit("TRAJECTORY_STEP", f"step {one + 1}: expected {_name(expected[other])}, got {_name(turn[one])}")
    return edit._replace(text=f"turn {place + 1}: {edit.text}")


def _missing(node: str) -> Edit:
    return Edit("TRAJECTORY_MISSING_STEP", f"missing: {_name(node)}")


def _extra(node: str) -> Edit:
    return Edit("TRAJECTORY_EXTRA_STEP", f"extra: {_name(node)}")


def _name(node: str) -> str:
    return one_line(node, 200)


def _shown(turn: Sequence[str]) -> str:
    return ", ".join(turn[:10]) + (", …" if len(turn) > 10 else "")
