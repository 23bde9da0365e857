"""The results of the dimensions of a rubric, in figures and in words, and how far a panel agrees on them and on the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from eval_skills.core.models import Reason
from eval_skills.core.text import beside, one_line
from eval_skills.scorers.claims.lookup import Finding, reasons_of
from eval_skills.scorers.judging.aggregation import Consensus, consensus_of, describe_agreement, spread_of
from eval_skills.scorers.judging.panel import Panel, Votes
from eval_skills.scorers.judging.quotes import quotes_found
from eval_skills.scorers.rubric.definition import NOT_JUDGED, TOLERANCE, Rubric, RubricDimension
from eval_skills.scorers.score import remark

if TYPE_CHECKING:
    from eval_skills.scorers.claims.judged import JudgedClaims
    from eval_skills.scorers.judging.prompt import Material
    from eval_skills.scorers.rubric.questions import DimensionVerdict

_SHOWN, _KEPT = 300, 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DimensionResult:
    """One dimension: `score` in [0, 1] or None where it could not be judged, `given` as it was judged (``good``), and why.

    `unsupported` are the claims that cost it something, `facts` JSON for the metadata. `consensus` is there where a panel voted.
    """

    name: str
    score: float | None
    given: str
    why: str
    unsupported: tuple[Finding, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    consensus: Consensus | None = None

    def reasons(self, dimension: RubricDimension) -> list[Reason]:
        """What the report says of it: a remark where it was not judged, or cost nothing."""
        where = f"rubric.{self.name}"
        if self.score is None:
            votes = f" ({self.given})" if self.consensus else ""
            message = f"{self.name} was not scored{votes}: {self.why}"
            return [remark("RUBRIC_NOT_SCORED", message, where)]
        agreed = f", agreement {self.consensus.agreement:.2g}" if self.consensus else ""
        message = f"{self.name}: {self.given} ({self.score:.4g}{agreed}, weight {dimension.weight:g}): {self.why}"
        reason = Reason(code="RUBRIC_DIMENSION", message=message, where=where)
        return [reason.as_remark() if self.score == 1 else reason, *reasons_of(self.unsupported)]


def by_level(name: str, dimension: RubricDimension, verdict: DimensionVerdict, materials: Sequence[Material]) -> DimensionResult:
    """The result of a dimension for which the model chose a level."""
    chosen = verdict.chosen
    quotes = [quote for quote in verdict.quotes if quote.strip()]
    facts = {
        "level": chosen,
        "reasoning": verdict.reasoning[:_KEPT],
        "quotes": [one_line(quote) for quote in quotes],
        "quotesFound": quotes_found(quotes, materials),
    }
    score = None if chosen == NOT_JUDGED else dimension.levels[chosen].score
    return DimensionResult(name=name, score=score, given=chosen, why=one_line(verdict.reasoning, _SHOWN), facts=facts)


def by_claims(name: str, claims: JudgedClaims) -> DimensionResult:
    """The result of a dimension that is the share of claims which hold, major ones counting twice."""
    if claims.share is None:
        why = "the answer claims nothing that could be verified"
        return DimensionResult(name=name, score=None, given=NOT_JUDGED, why=why, facts=claims.facts)
    unsupported = tuple(each for each in claims.findings if each.problem)
    held = len(claims.findings) - len(unsupported)
    given = f"{held} of {len(claims.findings)} claims"
    why = f"{sum(each.major for each in unsupported)} major and {sum(not each.major for each in unsupported)} minor do not hold"
    facts = {"level": given, "share": claims.share, **claims.facts}
    return DimensionResult(name=name, score=claims.share, given=given, why=why, unsupported=unsupported, facts=facts)


def overall_reason(rubric: Rubric, scores: dict[str, float], overall: float) -> Reason:
    """Why the overall score is not enough, so that it can be computed again."""
    weights = {name: rubric.dimensions[name].weight for name in scores}
    terms = " + ".join(f"{score:.4g}·{weights[name]:g} {name}" for name, score in scores.items())
    computed = f"{beside(overall, rubric.pass_at)} = ({terms}) / {sum(weights.values()):g}"
    message = f"expected an overall score of at least {rubric.pass_at:g}, got {computed}"
    return Reason(code="RUBRIC_BELOW_PASS", message=message, where="rubric")


def floor_reasons(rubric: Rubric, scores: dict[str, float]) -> tuple[Reason, ...]:
    """One reason for each dimension below its floor."""
    return tuple(
        Reason(
            code="RUBRIC_BELOW_FLOOR",
            message=f"{name}: expected at least {floor:g}, got {beside(scores[name], floor)}",
            where=f"rubric.{name}",
        )
        for name in rubric.below_floor(scores)
        for floor in (rubric.dimensions[name].floor,)
    )


def settled(panel: Panel, votes: Votes[DimensionResult]) -> DimensionResult:
    """The panel's result for one dimension, in the words of the vote nearest to it; a single vote as it is."""
    if panel.is_single:
        return votes.counted[0]
    found = consensus_of(panel, votes, lambda result: result.score)
    nearest = min(votes.counted, key=lambda result: _distance(result.score, found.value))
    facts = {"members": found.voices, "agreement": found.agreement, "spread": found.spread}
    given = ", ".join(f"{name}: {_listed(results)}" for name, results in votes.present.items())
    return replace(nearest, score=found.value, given=given, facts={**nearest.facts, "panel": facts}, consensus=found)


@dataclass(frozen=True, slots=True)
class RubricAgreement:
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
        message = f"overall {', '.join(scores)} ({describe_agreement(self.panel, self.agreement, self.spread)})"
        return remark("RUBRIC_PANEL", message, "rubric")

    @property
    def facts(self) -> dict[str, Any]:
        """For the metadata."""
        facts = {"aggregate": self.panel.aggregate, "members": self.members, "agreement": self.agreement, "spread": self.spread}
        return {**facts, "failed": self.failed}


def agreement_among(
    panel: Panel, rubric: Rubric, results: Sequence[DimensionResult], polled: Sequence[Votes[Any]], *, passed: bool
) -> RubricAgreement | None:
    """How far the votes in `polled`, from which `results` follow, agree with whether the answer passed; None for a single one."""
    if panel.is_single:
        return None
    voices = [each.consensus.voices for each in results if each.consensus]
    asked = dict.fromkeys(name for votes in polled for name in votes.members) if len(panel.models) > 1 else {}
    members, agreeing = dict[str, float | None](asked), []
    for name in dict.fromkeys([*asked, *(name for each in voices for name in each)]):
        scores = _scores_of(name, results)
        members[name] = overall = rubric.overall(scores)
        if overall is not None:
            agreeing.append((overall >= rubric.pass_at - TOLERANCE and not rubric.below_floor(scores)) == passed)
    failed = [each for votes in polled for each in votes.failed]
    return RubricAgreement(panel, members, sum(agreeing) / len(agreeing), failed)


def _scores_of(voice: str, results: Sequence[DimensionResult]) -> dict[str, float]:
    """What one voice gave the dimensions that it judged."""
    given = {each.name: each.consensus.voices.get(voice) for each in results if each.consensus}
    return {name: score for name, score in given.items() if score is not None}


def _distance(score: float | None, value: float | None) -> tuple[bool, float]:
    return (score is None) != (value is None), abs((score or 0.0) - (value or 0.0))


def _listed(results: Sequence[DimensionResult]) -> str:
    return ", ".join(each.given for each in results)
