"""Calibration of a judge: its verdicts compared with people's labels, and landed unless a better calibration exists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.judging.calibration import ENOUGH_LABELS, Calibration, LabelledItem, calibrate
from eval_skills.core.judging.labels import Label, read_labels
from eval_skills.core.store import Store, land_rows, new_run_id
from eval_skills.core.store.files import RunLock, once_free
from eval_skills.core.store.rows import calibration_row
from eval_skills.core.text import plural
from eval_skills.engine.calibration.labels import JudgedLabel
from eval_skills.engine.calibration.request import CalibrateRequest
from eval_skills.engine.calibration.sources import (
    current_calibrations,
    judge_labels,
    named,
    read_stored_verdicts,
    refuse_fewer_labels,
)


def calibrate_judge(request: CalibrateRequest) -> CalibrationOutcome:
    """Compare the judge with the labels and land the result: from then on reports correct its completion rates.

    Raises:
        UserError: the labels, the run or the benchmark cannot be used, a label fits no item or several, no item has a verdict, or
            the current calibration has more labels and `force` is not set.
        RunError: answers are judged now, and the judge cannot be reached, fails on all of them, or its cost limit is reached.
    """
    labels = read_labels(Path(request.labels))
    _check_source(request, labels)
    store = Store(request.store)
    answers = read_stored_verdicts(store, request, labels) if request.run_id else judge_labels(request, labels)
    found = answers.by_judge
    if not found:
        why = Counter(each.why for each in answers.labels).most_common(1)[0][0]
        raise InputError(f"no label is about an item with a model's verdict: {why}", source=request.labels)
    # each looks at the one that it replaces
    with once_free(partial(RunLock, store.layout.root / "calibrations", what="calibrations", mode=store.layout.mode)):
        now = datetime.now(UTC)
        calibrations = {
            judge: calibrate(
                [_item(each, request.pass_at) for each in group],
                benchmark_id=answers.benchmark.id,
                benchmark_version=answers.benchmark.version,
                benchmark_digest=answers.digest,
                model=judge.model,
                prompt=judge.prompt,
                at=now,
                run_id=answers.run_id,
                unjudged=answers.without_verdict(judge),
            )
            for judge, group in sorted(found.items())
        }
        current = current_calibrations(store, answers.benchmark, calibrations)
        refuse_fewer_labels(current, {judge: each.labels for judge, each in calibrations.items()}, force=request.force)
        outcome = {new_run_id(): calibration for calibration in calibrations.values()}
        for name, calibration in outcome.items():
            land_rows(store, "calibrations", name, [calibration_row(calibration, name)])
    said = [remark for judge, each in calibrations.items() for remark in _remarks(each, current.get(judge))]
    return CalibrationOutcome(outcome, store.path, [*answers.remarks, *answers.left_out, *said], failed=answers.failed)


def _check_source(request: CalibrateRequest, labels: Sequence[Label]) -> None:
    has_answers = labels[0].answer is not None
    if request.run_id is None and not has_answers:
        raise UsageError("the labels have no answers; name the run that has them with --run, or add a column answer")
    if request.run_id is not None and has_answers:
        raise UsageError("--run names a run and the labels have answers of their own (column answer); use one of them")
    if request.run_id is None and not (request.benchmark or request.tasks):
        raise UsageError("the answers are judged by a benchmark's tasks; name it with --benchmark")


def _item(judged: JudgedLabel, pass_at: float) -> LabelledItem:
    label = judged.label
    return LabelledItem(
        task_id=label.task_id,
        human_score=label.score,
        human_passed=label.score >= pass_at - 1e-9,
        judge_score=judged.score or 0.0,
        judge_passed=judged.passed,
    )


@dataclass(frozen=True, slots=True)
class CalibrationOutcome:
    """One calibration per judge, as they landed; `failed` counts the answers that the judge failed on now."""

    calibrations: dict[str, Calibration]
    store: str
    remarks: list[str] = field(default_factory=list)
    failed: int = 0


def _remarks(calibration: Calibration, replaced: Calibration | None) -> Iterator[str]:
    if replaced is not None:
        yield f"replaced for reports: {named(replaced)}"
    if calibration.labels < ENOUGH_LABELS:
        yield f"{plural(calibration.labels, 'label')} of {calibration.model}: use at least {ENOUGH_LABELS} for reliable figures"
