"""How far judging models are to be trusted, as people read it."""

from __future__ import annotations

from pydantic import ValidationError

from eval_skills.core.agreement import Estimate
from eval_skills.core.judge_figures import CalibrationFacts, JudgedBy, JudgeFigures, LengthBias
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.preferences import PositionBias
from eval_skills.reporting import figures

KEY = "judge"
"""Where a report's `evaluator_metadata` hold what is said here."""


def estimate_rate(estimate: Estimate) -> str:
    """The bounds of a share as ``62.1 to 96.8 %``."""
    if estimate.lower is None or estimate.upper is None:
        return figures.UNKNOWN
    lower, upper = (figures.rate(bound).removesuffix(" %") for bound in (estimate.lower, estimate.upper))
    return f"{lower} to {upper} %"


def estimate_number(estimate: Estimate) -> str:
    """A figure as ``0.70 [0.56, 0.83]``; a dash where it is not defined."""
    if estimate.value is None:
        return figures.UNKNOWN
    if estimate.lower is None or estimate.upper is None:
        return f"{estimate.value:.2f}"
    return f"{estimate.value:.2f} [{estimate.lower:.2f}, {estimate.upper:.2f}]"


def position_line(bias: PositionBias) -> str:
    """The position bias in a sentence."""
    p_value = figures.UNKNOWN if bias.p_value is None else f"{bias.p_value:.3g}"
    return (
        f"place of the answer: the first one won {figures.rate(bias.first_place_share.value)} of the decided verdicts; both "
        f"orders agree on {figures.rate(bias.consistent_share.value)} of {figures.plural(bias.pairs, 'pair')}; p {p_value}"
    )


def figures_in(report: SkillCompletionReport) -> JudgeFigures | None:
    """What the report's metadata say of its judges; None where they say nothing, or nothing that we know."""
    try:
        return JudgeFigures.model_validate(report.evaluator_metadata.get(KEY))
    except ValidationError:  # metadata are anybody's: a report may come from elsewhere
        return None


def judge_lines(report: SkillCompletionReport) -> list[tuple[str, str]]:
    """What a report says of the models that judged it, as (name, text); nothing where none did."""
    found = figures_in(report)
    if found is None:
        return []
    return [
        ("Judge-corrected completion", _corrected(found)),
        ("Judged by", "; ".join(map(_judge, found.judges))),
        ("Length and the judge", _length(found.length_bias)),
        *(("Place and the judge", f"{bias.model}: {position_line(bias.figures)}") for bias in found.position_bias),
    ]


def _corrected(found: JudgeFigures) -> str:
    corrected = found.corrected_completion
    if corrected is None:
        return f"{figures.UNKNOWN} ({found.corrected_reason})"
    return f"{figures.rate(corrected.value)} ({estimate_rate(corrected)})"


def _judge(judge: JudgedBy) -> str:
    return f"{judge.model}, {figures.plural(judge.items, 'item')}, {_calibration(judge.calibration)}"


def _calibration(facts: CalibrationFacts | None) -> str:
    if facts is None:
        return "not calibrated"
    kappa, sensitivity, specificity = map(estimate_number, (facts.kappa, facts.sensitivity, facts.specificity))
    return f"κ {kappa}, sensitivity {sensitivity}, specificity {specificity} of {figures.plural(facts.labels, 'label')}"


def _length(bias: LengthBias) -> str:
    if bias.spearman is None:
        return f"{figures.UNKNOWN} ({bias.reason})"
    return f"ρ {bias.spearman:.2f} of score and length over {figures.plural(bias.items or 0, 'item')}: {bias.rating}"
