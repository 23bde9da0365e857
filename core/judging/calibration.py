"""How far a judge's verdicts agree with those of people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from pydantic import Field

from eval_skills.core.judging.correction import Share, trials
from eval_skills.core.models.base import Model, Rate
from eval_skills.core.statistics.agreement import (
    Estimate,
    clustered,
    cohens_kappa,
    counts_of,
    nearest_levels,
    share,
    spearman,
    weighted_kappa,
)
from eval_skills.core.statistics.rates import FloatArray, IntArray, normal_quantile

ENOUGH_LABELS = 30
"""Below, every interval here is so wide that little is known of the judge."""

_BOTH_SIDES = normal_quantile(0.975)

LEAST_LABELS, LEAST_OF_A_KIND = 10, 3
"""Below, no rate is corrected by them: so many in all, and so many each that say pass and that say fail."""


@dataclass(frozen=True, slots=True)
class LabelledItem:
    """One answer with the label of a person and the verdict of the judge; scores in [0, 1]."""

    task_id: str
    human_score: float
    human_passed: bool
    judge_score: float
    judge_passed: bool


class Calibration(Model):
    """Agreement of a judge with labels of people, for one benchmark.

    `model` and `prompt` name the judge: another model, or another version of the prompt, is another judge. `sensitivity` is the
    share of what people pass that the judge passes, `specificity` that of what people fail that it fails; `positive_size` and
    `negative_size` say how many independent trials each is worth. `table` counts the items: people in rows, the judge in columns,
    fail before pass. The weighted kappa takes the distinct labels as levels, and puts the judge's scores to the nearest one.
    """

    benchmark_id: str
    benchmark_version: str
    benchmark_digest: str | None = None
    model: str
    prompt: str
    calibrated_at: datetime = Field(strict=False)
    run_id: str | None = None
    labels: int
    tasks: int
    unjudged: int = 0
    table: list[list[int]]
    accuracy: Estimate
    kappa: Estimate
    weighted_kappa: Estimate
    spearman: Estimate
    sensitivity: Estimate
    specificity: Estimate
    positive_size: float
    negative_size: float
    human_pass_rate: Rate
    judge_pass_rate: Rate

    @property
    def label_counts(self) -> tuple[int, int]:
        """How many labels say fail, and how many pass."""
        fails, passes = self.table
        return sum(fails), sum(passes)

    @property
    def uncorrectable(self) -> str | None:
        """Why rates of this judge cannot be corrected; None where they can.

        A correction divides by sensitivity + specificity − 1: where these labels cannot tell that from 0, at the level 0.95, the
        corrected rate could be anything, and so none is given.
        """
        sensitivity, specificity = self.sensitivity.value, self.specificity.value
        if sensitivity is None or specificity is None:
            missing = "pass" if sensitivity is None else "fail"
            return f"no label says {missing}, so it is not known how the judge treats such answers"
        if self.labels < LEAST_LABELS or min(self.label_counts) < LEAST_OF_A_KIND:
            fails, passes = self.label_counts
            needed = f"at least {LEAST_LABELS} with {LEAST_OF_A_KIND} of each kind are needed"
            return f"too few labels: {passes} that say pass and {fails} that say fail; {needed}"
        if sensitivity + specificity <= 1:
            return f"sensitivity {sensitivity:.4g} + specificity {specificity:.4g} is not above 1: no better than chance"
        low = sensitivity + specificity - _BOTH_SIDES * math.sqrt(sum(share.variance for share in self.shares))
        if low <= 1:
            found = f"sensitivity {sensitivity:.4g} + specificity {specificity:.4g} may be as low as {low:.4g}"
            return f"{found}, and a judge no better than chance has 1: more labels are needed, or another judge"
        return None

    @property
    def shares(self) -> tuple[Share, Share]:
        """Sensitivity and specificity for a correction; only where nothing makes it impossible."""
        return (
            Share(self.sensitivity.value or 0.0, self.positive_size),
            Share(self.specificity.value or 0.0, self.negative_size),
        )


@dataclass(frozen=True, slots=True)
class Agreement:
    """The arrays behind a calibration, one entry per labelled item."""

    task: IntArray
    human_score: FloatArray
    human: IntArray
    judge_score: FloatArray
    judge: IntArray

    @classmethod
    def of(cls, items: Sequence[LabelledItem]) -> Agreement:
        """In the order given; it changes no figure."""
        ordered = sorted(items, key=lambda item: (item.task_id, item.human_score, item.judge_score))
        _, task = np.unique([item.task_id for item in ordered], return_inverse=True)
        return cls(
            task=task,
            human_score=np.array([item.human_score for item in ordered], dtype=np.float64),
            human=np.array([item.human_passed for item in ordered], dtype=np.int64),
            judge_score=np.array([item.judge_score for item in ordered], dtype=np.float64),
            judge=np.array([item.judge_passed for item in ordered], dtype=np.int64),
        )

    @property
    def table(self) -> IntArray:
        """People in rows, the judge in columns, fail before pass."""
        return counts_of(self.human, self.judge, 2)

    def accuracy(self) -> Estimate:
        """The share of items that both pass or both fail."""
        return share(self.human == self.judge, self.task)

    def hit_share(self, verdict: int) -> tuple[Estimate, float]:
        """Of the items to which people gave this verdict (1: pass), the share to which the judge did, and what it is worth."""
        chosen = self.human == verdict
        task, hits = self.task[chosen], self.judge[chosen] == verdict
        if not chosen.any():
            return Estimate(), 0.0
        _, place = np.unique(task, return_inverse=True)
        return share(hits, task), trials(np.bincount(place, weights=hits).astype(np.int64), np.bincount(place))

    def kappa(self) -> Estimate:
        """Cohen's κ of pass and fail."""
        return clustered(lambda rows: cohens_kappa(counts_of(self.human[rows], self.judge[rows], 2)), self.task)

    def weighted_kappa(self) -> Estimate:
        """Quadratic-weighted κ over the levels that the labels use; no value where they use only one."""
        levels = np.unique(self.human_score)
        human, judge = nearest_levels(self.human_score, levels), nearest_levels(self.judge_score, levels)
        return clustered(lambda rows: weighted_kappa(human[rows], judge[rows]), self.task)

    def spearman(self) -> Estimate:
        """Rank correlation of labels and scores."""
        return clustered(lambda rows: spearman(self.human_score[rows], self.judge_score[rows]), self.task)


def calibrate(
    items: Sequence[LabelledItem],
    *,
    benchmark_id: str,
    benchmark_version: str,
    model: str,
    prompt: str,
    at: datetime,
    benchmark_digest: str | None = None,
    run_id: str | None = None,
    unjudged: int = 0,
) -> Calibration:
    """The agreement of at least one labelled item; `unjudged` counts labels on the judge's tasks that have no verdict of it."""
    found = Agreement.of(items)
    sensitivity, positive = found.hit_share(1)
    specificity, negative = found.hit_share(0)
    return Calibration(
        benchmark_id=benchmark_id,
        benchmark_version=benchmark_version,
        benchmark_digest=benchmark_digest,
        model=model,
        prompt=prompt,
        calibrated_at=at,
        run_id=run_id,
        labels=len(items),
        tasks=len(np.unique(found.task)),
        unjudged=unjudged,
        table=found.table.tolist(),
        accuracy=found.accuracy(),
        kappa=found.kappa(),
        weighted_kappa=found.weighted_kappa(),
        spearman=found.spearman(),
        sensitivity=sensitivity,
        specificity=specificity,
        positive_size=positive,
        negative_size=negative,
        human_pass_rate=float(found.human.mean()),
        judge_pass_rate=float(found.judge.mean()),
    )
