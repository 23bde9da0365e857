"""What a report tells of the models that judged a skill's items."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from eval_skills.core.agreement import Estimate
from eval_skills.core.models.base import Model, Rate
from eval_skills.core.preferences import PositionBias


class CalibrationFacts(Model):
    """What of a calibration stands in a report."""

    calibrated_at: datetime = Field(strict=False)
    labels: int
    accuracy: Estimate
    kappa: Estimate
    sensitivity: Estimate
    specificity: Estimate


class JudgedBy(Model):
    """A judge, what became of the items that it was to judge, and how far it agrees with people.

    `items` got their verdict from it, or it verified their claims; `cached` of them without a new request; `unjudged` it failed
    to judge (None: not known, as in reports of older versions). `tokens` and `cost_usd` are all that was paid for its items,
    failures included; None: a part of it is not known, or nobody was asked.
    `agreement` is the mean share, in [0, 1], of a panel's members (or of one model's votes) that decide as the whole does; None
    for a single vote. `calibration` is None where it is not calibrated on this benchmark.
    """

    model: str
    prompt: str
    items: int
    calibration: CalibrationFacts | None
    unjudged: int | None = None
    cached: int | None = None
    tokens: int | None = None
    cost_usd: float | None = Field(default=None, alias="costUSD")
    agreement: Rate | None = None


class LengthBias(Model):
    """Spearman's ρ of score and answer length over the judged items; `reason` says why there is none.

    Below 0.2 it is ``good``, below 0.4 ``acceptable``, else ``strong``, whatever its sign. It is no proof of a bias: the better
    answers of a skill may just be longer.
    """

    spearman: float | None
    items: int | None
    rating: Literal["good", "acceptable", "strong"] | None
    reason: str | None


class JudgePositionBias(Model):
    """The position bias of a judging model, from all comparisons of answers to this benchmark that the store holds."""

    model: str
    figures: PositionBias


class JudgeFigures(Model):
    """The figures of one skill's judged items. `corrected_completion` is the completion rate without the judges' known mistakes.

    It is of all items: those that no model judged stay as they are. `corrected_reason` says why there is none. `items` were
    judged and `unjudged` could not be; about the others no model was asked. `unjudged`, `cached` and `agreement` are those of
    `JudgedBy`, over all judges.
    """

    items: int
    unjudged: int | None = None
    cached: int | None = None
    agreement: Rate | None = None
    judges: list[JudgedBy]
    corrected_completion: Estimate | None
    corrected_reason: str | None
    length_bias: LengthBias
    position_bias: list[JudgePositionBias]
