"""Whether a trajectory matches a reference, how far, in figures, and what would have to change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast, get_args

from eval_skills.core.errors import InputError
from eval_skills.core.text import nearest
from eval_skills.scorers.tools.sequence import lcs_length
from eval_skills.scorers.trajectory.arguments import ArgumentsRules
from eval_skills.scorers.trajectory.edits import (
    CallPair,
    Edit,
    call_edits,
    call_pairs,
    message_edits,
    message_pairs,
    messages_match,
)
from eval_skills.scorers.trajectory.matching import Pairing
from eval_skills.scorers.trajectory.messages import Trajectory

TrajectoryMode = Literal["strict", "unordered", "subset", "superset"]
TRAJECTORY_MODES: tuple[str, ...] = get_args(TrajectoryMode)


class Comparison(NamedTuple):
    """The outcome: whether it matches, the smallest edit (empty where it does), and the figures of `agreement`."""

    matches: bool
    edits: list[Edit]
    figures: dict[str, Any]


@dataclass(frozen=True, slots=True)
class TrajectoryComparison:
    """Compares an output with a reference.

    `strict`: as many messages, the same role at each place, and per message a one-to-one match of its calls. The others look at
    calls alone, wherever they stand: `unordered` is a one-to-one match of all; `superset` pairs every reference call with an
    output call of its own, `subset` every output call with a reference call of its own.
    """

    mode: TrajectoryMode
    rules: ArgumentsRules

    def compare(self, output: Trajectory, reference: Trajectory) -> Comparison:
        """The comparison of two trajectories, which may be empty.

        Raises:
            ScorerError: a matcher function of the caller's failed.
        """
        pairing = Pairing(output.calls, reference.calls, self.rules)
        outputs, references = range(len(output.calls)), range(len(reference.calls))
        strictly = self.mode == "strict" and messages_match(output, reference, pairing)
        matched = len(outputs) if strictly else len(pairing.matched(outputs, references))
        figures = agreement(matched, [call.name for call in output.calls], [call.name for call in reference.calls])
        if strictly or self._matches(figures):
            return Comparison(True, [], figures)
        if self.mode == "strict":
            return Comparison(False, message_edits(output, reference, pairing), figures)
        edits = call_edits(pairing, outputs, references, missing=self.mode != "subset", extra=self.mode != "superset")
        return Comparison(False, edits, figures)

    def pairs(self, output: Trajectory, reference: Trajectory) -> list[CallPair]:
        """Which calls belong together in this mode.

        Raises:
            ScorerError: a matcher function of the caller's failed.
        """
        pairing = Pairing(output.calls, reference.calls, self.rules)
        if self.mode == "strict":
            return message_pairs(output, reference, pairing)
        return call_pairs(pairing, range(len(output.calls)), range(len(reference.calls)))

    def _matches(self, figures: dict[str, Any]) -> bool:
        if self.mode == "strict":
            return False
        return not (self.mode != "subset" and figures["missing"]) and not (self.mode != "superset" and figures["extra"])


def trajectory_mode(mode: Any) -> TrajectoryMode:
    """The mode of that name.

    Raises:
        InputError: there is none.
    """
    if not isinstance(mode, str) or mode not in TRAJECTORY_MODES:
        hint = nearest(mode, TRAJECTORY_MODES) if isinstance(mode, str) else ""
        raise InputError(f"the trajectory mode is {mode!r}{hint}; valid are {', '.join(TRAJECTORY_MODES)}")
    return cast("TrajectoryMode", mode)


def agreement(matched: int, outputs: Sequence[str], references: Sequence[str]) -> dict[str, Any]:
    """The partial scores of `matched` pairs among these names in order, in any mode.

    `matched`, `missing` and `extra` are counts. `precision` is matched / outputs, `recall` matched / references, `f1` their
    harmonic mean 2·matched / (outputs + references), and `lcs` the longest common subsequence of the names / references: how far
    the order agrees. All four lie in [0, 1]; a share of nothing is 1.
    """
    called, expected = len(outputs), len(references)
    in_order = expected if outputs == references else lcs_length(outputs, references)
    return {
        "matched": matched,
        "missing": expected - matched,
        "extra": called - matched,
        "precision": matched / called if called else 1.0,
        "recall": matched / expected if expected else 1.0,
        "f1": 2 * matched / (called + expected) if called + expected else 1.0,
        "lcs": in_order / expected if expected else 1.0,
    }
