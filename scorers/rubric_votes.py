"""What a panel says of the dimensions of a rubric, and how far its members agree on the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from eval_skills.core.models import Reason
from eval_skills.scorers.judging.ballots import Ballots
from eval_skills.scorers.judging.consensus import consensus_of
from eval_skills.scorers.judging.decision import spread_of, unity
from eval_skills.scorers.judging.panel import Panel
from eval_skills.scorers.reasons import remark
from eval_skills.scorers.rubric_file import DUST, Rubric
from eval_skills.scorers.rubric_results import DimensionResult


def settled(panel: Panel, ballots: Ballots[DimensionResult]) -> DimensionResult:
    """The panel's result for one dimension, in the words of the vote nearest to it; a single vote as it is."""
    if panel.is_single:
        return ballots.counted[0]
    found = consensus_of(panel, ballots, lambda result: result.score)
    nearest = min(ballots.counted, key=lambda result: _distance(result.score, found.value))
    facts = {"members": found.voices, "agreement": found.agreement, "spread": found.spread}
    given = ", ".join(f"{name}: {_listed(results)}" for name, results in ballots.present.items())
    return replace(nearest, score=found.value, given=given, facts={**nearest.facts, "panel": facts}, consensus=found)


@dataclass(frozen=True, slots=True)
class RubricUnity:
    """How far a panel agrees on an answer as a whole; there is nothing to say of a single vote.

    `members` are the members' own overall scores, None for one that failed or judged nothing that counts; of a single member they
    are its votes' (``vote 1``), of which one that failed is left out. `agreement` is the share of those with a score that pass or
    fail the answer, floors included, as the panel does, `spread` the sample standard deviation of their scores.
    """

    panel: Panel
    members: dict[str, float | None]
    agreement: float
    failed: list[dict[str, Any]]

    @property
    def spread(self) -> float | None:
        """None for fewer than two scores."""
        return spread_of([each for each in self.members.values() if each is not None])

    @property
    def remark(self) -> Reason:
        """Who gave what."""
        scores = (f"{name}: {'no verdict' if score is None else f'{score:.4g}'}" for name, score in self.members.items())
        message = f"overall {', '.join(scores)} ({unity(self.panel, self.agreement, self.spread)})"
        return remark(Reason(code="RUBRIC_PANEL", message=message, where="rubric"))

    @property
    def facts(self) -> dict[str, Any]:
        """For the metadata."""
        facts = {"aggregate": self.panel.aggregate, "members": self.members, "agreement": self.agreement, "spread": self.spread}
        return {**facts, "failed": self.failed}


def unity_of(
    panel: Panel, rubric: Rubric, results: Sequence[DimensionResult], polled: Sequence[Ballots[Any]], *, passed: bool
) -> RubricUnity | None:
    """How far the votes in `polled`, which came to `results`, agree that the answer passed, or did not; None for a single one."""
    if panel.is_single:
        return None
    voices = [each.consensus.voices for each in results if each.consensus]
    asked = dict.fromkeys(name for ballots in polled for name in ballots.members) if len(panel.models) > 1 else {}
    members, agreeing = dict[str, float | None](asked), []
    for name in dict.fromkeys([*asked, *(name for each in voices for name in each)]):
        scores = _scores_of(name, results)
        members[name] = overall = rubric.overall(scores)
        if overall is not None:
            agreeing.append((overall >= rubric.pass_at - DUST and not rubric.below_floor(scores)) == passed)
    failed = [each for ballots in polled for each in ballots.failed]
    return RubricUnity(panel, members, sum(agreeing) / len(agreeing), failed)


def _scores_of(voice: str, results: Sequence[DimensionResult]) -> dict[str, float]:
    """What one voice gave the dimensions that it judged."""
    given = {each.name: each.consensus.voices.get(voice) for each in results if each.consensus}
    return {name: score for name, score in given.items() if score is not None}


def _distance(score: float | None, value: float | None) -> tuple[bool, float]:
    return (score is None) != (value is None), abs((score or 0.0) - (value or 0.0))


def _listed(results: Sequence[DimensionResult]) -> str:
    return ", ".join(each.given for each in results)
