"""How the verdicts on the turns of a conversation, and on the whole, become one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eval_skills.core.errors import ItemError
from eval_skills.core.models import Reason, Verdict
from eval_skills.scorers.judging.budget import Spending
from eval_skills.scorers.score import OpenValue
from eval_skills.scorers.task_scoring.verdict import below_min, could_decide, error_reason, reaches
from eval_skills.scorers.tools.calls import in_turn

NOTHING_SCORED = "NOTHING_EXPECTED"
"""The code of the remark on a part of gates alone; it would mislead beside parts that have a score."""


@dataclass(frozen=True, slots=True)
class ScoredPart:
    """The verdict on a turn, or on the whole; with `only_gates` nothing about it has a score of its own.

    `open_score`: between which values its score lies, whatever the votes say that a panel did not get.
    """

    verdict: Verdict
    only_gates: bool
    open_score: OpenValue | None = None

    def scored(self, score: float) -> ScoredPart:
        """The same with another score."""
        return replace(self, verdict=self.verdict.model_copy(update={"score": score}))

    def without_score(self, error: ItemError) -> ScoredPart:
        """The same where missing votes leave open what the whole needs: the score."""
        dimensions = {name: value for name, value in self.verdict.dimensions.items() if name != "output_quality"}
        reasons = [error_reason(error, self.verdict.scorer), *(each.as_remark() for each in self.verdict.reasons)]
        lost = {"status": "error", "score": None, "passed": False, "error_kind": error.kind}
        return replace(self, verdict=self.verdict.model_copy(update={**lost, "dimensions": dimensions, "reasons": reasons}))


def joined_verdict(
    turns: Sequence[ScoredPart | None], whole: ScoredPart | None, scorer: str | None, min_score: float | None
) -> Verdict:
    """The verdict on a conversation: it passes where each part does. None is a turn that is not scored.

    The score is the mean of those of the parts; parts of gates alone count in it only where there are no others. With
    `min_score` (points of 100) it must reach that, too. A part whose scorer failed makes it an error, unless another part has
    failed: then the whole has, and its score is the mean of the others. So does a turn with votes missing that could decide
    whether `min_score` is reached.
    """
    if min_score is not None and all(part is None or part.verdict.passed for part in (*turns, whole)):
        turns = _with_lost_scores(turns, min_score)
    parts = [part for part in (*turns, whole) if part is not None]
    verdicts = [part.verdict for part in parts]
    failed = any(verdict.status == "fail" for verdict in verdicts)
    error = next((verdict for verdict in verdicts if verdict.status == "error"), None)
    score = None if error is not None and not failed else _mean(parts)
    low = [below_min(score, min_score)] if score is not None and min_score is not None and not reaches(score, min_score) else []
    status: Any = "error" if score is None else "fail" if failed or low else "pass"
    return Verdict(
        status=status,
        score=score,
        passed=status == "pass",
        scorer=scorer,
        dimensions=_dimensions(verdicts),
        reasons=[*low, *_reasons(turns, whole, status)],
        error_kind=error.error_kind if error is not None and status == "error" else None,
        **_spent(verdicts),
        forbidden_unknown=any(verdict.forbidden_unknown for verdict in verdicts),
        metadata=whole.verdict.metadata if whole is not None else {},
        turns=[None if part is None else part.verdict for part in turns],
    )


def _with_lost_scores(turns: Sequence[ScoredPart | None], min_score: float) -> Sequence[ScoredPart | None]:
    """These turns, all of which pass; those with an open score as errors where that decides whether their mean is enough."""
    scored = [turn for turn in turns if turn is not None]
    missing = next((turn.open_score for turn in scored if turn.open_score is not None), None)
    if missing is None:
        return turns
    low = _mean([turn.scored(turn.open_score.low) if turn.open_score else turn for turn in scored])
    high = _mean([turn.scored(turn.open_score.high) if turn.open_score else turn for turn in scored])
    if not could_decide(replace(missing, low=low, high=high), min_score):
        return turns
    return [turn.without_score(turn.open_score.error) if turn is not None and turn.open_score else turn for turn in turns]


def _mean(parts: Sequence[ScoredPart]) -> float:
    """A forbidden call that may have happened leaves nothing to be counted."""
    if any(part.verdict.forbidden_unknown for part in parts):
        return 0.0
    known = [part for part in parts if part.verdict.score is not None]
    counted = [part for part in known if not part.only_gates] or known
    return min(1.0, sum(part.verdict.score or 0.0 for part in counted) / len(counted))


def _dimensions(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """Of each dimension the mean over the parts that have it."""
    found: dict[str, list[float]] = {}
    for verdict in verdicts:
        for name, value in verdict.dimensions.items():
            found.setdefault(name, []).append(value)
    return {name: min(1.0, sum(values) / len(values)) for name, values in found.items()}


def _reasons(turns: Sequence[ScoredPart | None], whole: ScoredPart | None, status: str) -> list[Reason]:
    """Those that explain the verdict first, turn by turn and then of the whole; then the remarks likewise."""
    said = list(_placed(turns, whole))
    if any(part is not None and part.verdict.judge_requests is not None for part in (*turns, whole)):
        said = [(verdict, _beside_judged(reason)) for verdict, reason in said]
    if any(part is not None and not part.only_gates for part in (*turns, whole)):
        said = [(verdict, reason) for verdict, reason in said if reason.code != NOTHING_SCORED]
    telling = [reason for verdict, reason in said if verdict.status == status and not reason.informational]
    others = [reason for verdict, reason in said if verdict.status != status or reason.informational]
    return [*telling, *(reason.as_remark() for reason in others)]


def _beside_judged(reason: Reason) -> Reason:
    """The reason of a part, where a model was asked about another one: that none was is not true of the conversation."""
    return reason.model_copy(update={"code": "NOT_ASKED"}) if reason.code == "NOT_JUDGED" else reason


def _placed(turns: Sequence[ScoredPart | None], whole: ScoredPart | None) -> Iterator[tuple[Verdict, Reason]]:
    for place, part in enumerate(turns):
        if part is not None:
            yield from ((part.verdict, in_turn(place, reason)) for reason in part.verdict.reasons)
    if whole is not None:
        yield from ((whole.verdict, reason) for reason in whole.verdict.reasons)


def _spent(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """What judging models were paid for all parts; nothing where none was asked."""
    asked = [verdict for verdict in verdicts if verdict.judge_requests is not None]
    if not asked:
        return {}
    total = Spending()
    for verdict in asked:
        total.add(verdict.judge_tokens, verdict.judge_cost_usd, verdict.judge_requests or 0)
    return total.fields()
