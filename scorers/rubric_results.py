"""What became of the dimensions of a rubric, in figures and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eval_skills.core.models import Reason
from eval_skills.scorers.claim_findings import Finding, reasons_of
from eval_skills.scorers.judging.quotes import quotes_found
from eval_skills.scorers.reasons import one_line, remark
from eval_skills.scorers.rubric_file import NOT_JUDGED, RubricDimension

if TYPE_CHECKING:
    from eval_skills.scorers.judged_claims import JudgedClaims
    from eval_skills.scorers.judging.consensus import Consensus
    from eval_skills.scorers.judging.question import Material
    from eval_skills.scorers.judging.rubric_questions import DimensionVerdict
    from eval_skills.scorers.rubric_file import Rubric

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
            return [remark(Reason(code="RUBRIC_NOT_SCORED", message=message, where=where))]
        unity = f", agreement {self.consensus.agreement:.2g}" if self.consensus else ""
        message = f"{self.name}: {self.given} ({self.score:.4g}{unity}, weight {dimension.weight:g}): {self.why}"
        reason = Reason(code="RUBRIC_DIMENSION", message=message, where=where)
        return [remark(reason) if self.score == 1 else reason, *reasons_of(self.unsupported)]


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
    computed = f"{overall:.4g} = ({terms}) / {sum(weights.values()):g}"
    message = f"expected an overall score of at least {rubric.pass_at:g}, got {computed}"
    return Reason(code="RUBRIC_BELOW_PASS", message=message, where="rubric")


def floor_reasons(rubric: Rubric, scores: dict[str, float]) -> tuple[Reason, ...]:
    """One reason for each dimension below its floor."""
    return tuple(
        Reason(
            code="RUBRIC_BELOW_FLOOR",
            message=f"{name}: expected at least {rubric.dimensions[name].floor:g}, got {scores[name]:.4g}",
            where=f"rubric.{name}",
        )
        for name in rubric.below_floor(scores)
    )
