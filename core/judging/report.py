"""The models that judged a skill's items, as a report has them: the correction for their known mistakes, and their biases."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field

from eval_skills.core.judging.calibration import Calibration
from eval_skills.core.judging.correction import JudgedItems, corrected_completion
from eval_skills.core.judging.pairs import Preference
from eval_skills.core.judging.preferences import PositionBias, position_bias
from eval_skills.core.judging.rows import Judge, JudgedRows, verified
from eval_skills.core.models.base import Model, Rate
from eval_skills.core.models.report import MISSING_KINDS
from eval_skills.core.statistics.agreement import LEAST_RANKED, Estimate, spearman
from eval_skills.core.statistics.rates import IntArray

if TYPE_CHECKING:
    import pandas as pd

NEEDED = frozenset({"task_id", "status", "score", "reasons"})
_QUALITY = "output_quality"
_GOOD, _ACCEPTABLE = 0.2, 0.4


@dataclass(frozen=True, slots=True)
class JudgeKnowledge:
    """What is known of judges: who judges each task, how far each agrees with people, and what each preferred, by its model.

    `claims` are who verifies the claims of each task's answers, apart from its verdict. `changed` says, by judge, what changed
    between its calibration and these items, and what to do: what was learnt there of its mistakes does not hold of others.
    """

    by_task: Mapping[str, Judge]
    calibrations: Mapping[Judge, Calibration] = field(default_factory=dict)
    preferences: Mapping[str, Sequence[Preference]] = field(default_factory=dict)
    claims: Mapping[str, Judge] = field(default_factory=dict)
    changed: Mapping[Judge, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Counted:
    """Per task of a skill: all items, those that passed, and the same by judge of those that it judged.

    `missing` are the items that leave open whether the skill would have passed.
    """

    passed: IntArray
    items: IntArray
    missing: IntArray
    judged: dict[Judge, tuple[IntArray, IntArray]]


def judge_figures(items: pd.DataFrame, known: JudgeKnowledge, benchmark_version: str) -> JudgeFigures | None:
    """The figures of one skill's items; None where no model was asked, or it is not known.

    An item that ended in an error, or failed before a model was asked, was not judged. Unknown is None, never 0.
    """
    if not (known.by_task or known.claims) or not set(items.columns) >= NEEDED:
        return None
    rows = JudgedRows.of(items, known.by_task, known.claims)
    if not (rows.judged | rows.failed).any():
        return None
    counted = _count(items, [judge if judged else None for judge, judged in zip(rows.judges, rows.verdicts, strict=True)])
    corrected, reason = _corrected(counted, known, benchmark_version)
    asked = rows.asked
    everything = np.ones(len(items), dtype=bool)
    return JudgeFigures(
        items=int(rows.judged.sum()),
        unjudged=int(rows.failed.sum()),
        cached=rows.cached(everything),
        agreement=rows.agreement(everything),
        judges=_with_claims([_judge(judge, rows, known, benchmark_version) for judge in asked], items, known),
        corrected_completion=corrected,
        corrected_reason=reason,
        length_bias=_length_bias(items, rows.verdicts),
        position_bias=_position_biases(asked, known),
    )


def _count(items: pd.DataFrame, judge: Sequence[Judge | None]) -> _Counted:
    names, task = np.unique(items["task_id"].to_numpy(dtype=object).astype(str), return_inverse=True)
    passed = (items["status"] == "pass").to_numpy(dtype=bool)
    missing = np.zeros(len(items), dtype=bool)
    if "error_kind" in items:
        missing = ((items["status"] == "error") & items["error_kind"].isin(MISSING_KINDS)).to_numpy(dtype=bool)

    def per_task(chosen: Any) -> IntArray:
        counts: IntArray = np.bincount(task[chosen], minlength=len(names))
        return counts

    judged: dict[Judge, tuple[IntArray, IntArray]] = {}
    for each in sorted({name for name in judge if name is not None}):
        own = np.array([name == each for name in judge])
        judged[each] = per_task(own & passed), per_task(own)
    return _Counted(per_task(passed), per_task(np.ones(len(task), dtype=bool)), per_task(missing), judged)


def _calibration(judge: Judge, known: JudgeKnowledge, version: str) -> tuple[Calibration | None, str | None]:
    """The judge's calibration, and why it cannot be used for a correction."""
    calibration = known.calibrations.get(judge)
    if calibration is None:
        return None, f"{judge[0]} is not calibrated on this benchmark; see eval-skills judge calibrate"
    if calibration.benchmark_version != version:
        return None, f"{judge[0]} was calibrated on version {calibration.benchmark_version} of this benchmark; calibrate it again"
    if (changed := known.changed.get(judge)) is not None:
        return None, changed
    return calibration, calibration.uncorrectable


def _corrected(counted: _Counted, known: JudgeKnowledge, version: str) -> tuple[Estimate | None, str | None]:
    if not counted.judged:
        return None, "no item was judged" if known.by_task else "models verified claims, and gave no verdict"
    judged: list[JudgedItems] = []
    for judge, (passed, items) in counted.judged.items():
        calibration, why = _calibration(judge, known, version)
        if calibration is None or why is not None:
            return None, why
        judged.append(JudgedItems(passed, items, *calibration.shares))
    estimate = corrected_completion(judged, counted.passed, counted.items)
    if estimate is None:
        return None, "one task does not show how tasks differ"
    if counted.missing.any():  # had they passed
        best = corrected_completion(judged, counted.passed + counted.missing, counted.items)
        uppers = [each.upper for each in (estimate, best) if each is not None and each.upper is not None]
        estimate = estimate.model_copy(update={"upper": max(uppers)})
    return estimate, None


def _judge(judge: Judge, rows: JudgedRows, known: JudgeKnowledge, version: str) -> JudgedBy:
    calibration, _ = _calibration(judge, known, version)
    own = rows.meant_for(judge)
    facts = None
    if calibration is not None:
        facts = CalibrationFacts(**{name: getattr(calibration, name) for name in CalibrationFacts.model_fields})
    return JudgedBy(
        model=judge[0],
        prompt=judge[1],
        items=int(np.count_nonzero(own & rows.judged)),
        unjudged=int(np.count_nonzero(own & rows.failed)),
        cached=rows.cached(own),
        requests=rows.requests(own),
        tokens=rows.tokens(own),
        cost_usd=rows.cost_usd(own),
        agreement=rows.agreement(own),
        calibration=facts,
    )


def _with_claims(judges: list[JudgedBy], items: pd.DataFrame, known: JudgeKnowledge) -> list[JudgedBy]:
    """With those that verified claims beside another's verdict: what they were paid for it is in the sum of that one's items."""
    if not known.claims:
        return judges
    rows = zip(items["task_id"], verified(items), strict=True)
    beside = Counter(known.claims[task] for task, was in rows if was and task in known.by_task and task in known.claims)
    found = {(each.model, each.prompt): each for each in judges}
    for (model, prompt), count in sorted(beside.items()):
        its = found.get((model, prompt)) or JudgedBy(model=model, prompt=prompt, items=0, calibration=None)
        found[model, prompt] = its.model_copy(
            update={"items": its.items + count, "requests": None, "tokens": None, "cost_usd": None}
        )
    return [found[each] for each in sorted(found)]


def _length_bias(items: pd.DataFrame, judged: Any) -> LengthBias:
    if "output" not in items:
        return LengthBias(spearman=None, items=None, rating=None, reason="the answers are not available")
    rows = items[judged]
    score = rows["score"].astype("float64")
    if _QUALITY in rows:
        score = rows[_QUALITY].astype("float64").fillna(score)
    rho = spearman(np.array([_length(each) for each in rows["output"]]), score.to_numpy())
    few = len(rows) < LEAST_RANKED
    reason = None if rho is not None else f"fewer than {LEAST_RANKED} items" if few else "all scores or all lengths are the same"
    return LengthBias(spearman=rho, items=len(rows), rating=None if rho is None else _rating(abs(rho)), reason=reason)


def _rating(size: float) -> Literal["good", "acceptable", "strong"]:
    return "good" if size < _GOOD else "acceptable" if size < _ACCEPTABLE else "strong"


def _length(output: Any) -> float:
    """The length of the answer's text; of an answer that is not text, that of its JSON."""
    if not isinstance(output, str):
        return 0.0
    try:
        value = json.loads(output)
    except (ValueError, RecursionError):
        return float(len(output))
    return float(len(value if isinstance(value, str) else output))


def _position_biases(judges: Sequence[Judge], known: JudgeKnowledge) -> list[JudgePositionBias]:
    found = []
    for model in dict.fromkeys(model for model, _ in judges):
        bias = position_bias(known.preferences.get(model, ()))
        if bias is not None:
            found.append(JudgePositionBias(model=model, figures=bias))
    return found


class CalibrationFacts(Model):
    """What of a calibration stands in a report; beside the `labels` are `unjudged` ones of answers without its verdict."""

    calibrated_at: datetime = Field(strict=False)
    labels: int
    unjudged: int | None = None
    accuracy: Estimate
    kappa: Estimate
    sensitivity: Estimate
    specificity: Estimate


class JudgedBy(Model):
    """A judge, what became of the items that it was to judge, and how far it agrees with people.

    `items` got their verdict from it, or it verified their claims; `cached` of them without a new request; `unjudged` it failed
    to judge (None: not known, as in reports of older versions). `requests`, `tokens` and `cost_usd` are all that was asked and
    paid for its items, failures included; None: a part of it is not known, or no model was asked.
    `agreement` is the mean share, in [0, 1], of a panel's members (or of one model's votes) that decide as the whole does; None
    for a single vote. `calibration` is None where it is not calibrated on this benchmark.
    """

    model: str
    prompt: str
    items: int
    calibration: CalibrationFacts | None
    unjudged: int | None = None
    cached: int | None = None
    requests: int | None = None
    tokens: int | None = None
    cost_usd: float | None = Field(default=None, alias="costUSD")
    agreement: Rate | None = None


class LengthBias(Model):
    """Spearman's ρ of score and answer length over the judged items; `reason` says why there is none.

    Below 0.2 it is ``good``, below 0.4 ``acceptable``, else ``strong``, whatever its sign. It does not prove a bias: the better
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

    It is of all items: those that no model judged stay as they are. Those without a verdict count as not passed, and for the
    upper end of its interval as passed. `corrected_reason` says why it is missing. `items` were
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
