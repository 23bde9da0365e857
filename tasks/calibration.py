"""A judge held against people's labels: of a stored run, or of answers that are judged now. Plain: no Prefect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from eval_skills.core.calibration import LabelledItem, calibrate
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.labels import Label, read_labels
from eval_skills.core.store import Store, new_run_id
from eval_skills.tasks.calibrate_request import CalibrateRequest
from eval_skills.tasks.calibration_landing import CalibrationOutcome, land_calibrations
from eval_skills.tasks.labelled_answers import JudgedLabel
from eval_skills.tasks.labels_judged_now import labels_judged_now
from eval_skills.tasks.labels_of_run import labels_of_run


def calibrate_judge(request: CalibrateRequest) -> CalibrationOutcome:
    """Hold the judge against the labels, and keep the result: from then on reports correct its completion rates.

    Raises:
        UserError: the labels, the run or the benchmark cannot be used, a label fits no item or several, no item has a verdict, or
            the calibration that holds has more labels and nothing forces it.
        RunError: answers are judged now, and the judge cannot be reached, fails on all of them, or its budget is spent.
    """
    labels = read_labels(Path(request.labels))
    _check_source(request, labels)
    store = Store(request.store)
    answers = labels_of_run(store, request, labels) if request.run_id else labels_judged_now(request, labels)
    found = answers.by_judge
    if not found:
        why = Counter(each.why for each in answers.labels).most_common(1)[0][0]
        raise InputError(f"no label is of an item with a model's verdict: {why}", source=request.labels)
    unjudged = len(answers.labels) - sum(map(len, found.values()))
    now = datetime.now(UTC)
    outcome = {
        new_run_id(now): calibrate(
            [_item(each, request.pass_at) for each in group],
            benchmark_id=answers.benchmark.id,
            benchmark_version=answers.benchmark.version,
            benchmark_digest=answers.digest,
            model=judge.model,
            prompt=judge.prompt,
            at=now,
            run_id=answers.run_id,
            unjudged=unjudged,
        )
        for judge, group in sorted(found.items())
    }
    remarks = [*answers.remarks, *answers.left_out, *land_calibrations(store, outcome, force=request.force)]
    return CalibrationOutcome(outcome, store.path, remarks, failed=answers.failed)


def _check_source(request: CalibrateRequest, labels: Sequence[Label]) -> None:
    has_answers = labels[0].answer is not None
    if request.run_id is None and not has_answers:
        raise UsageError("what was judged? Name its run with --run, or give the labels a column answer, to be judged now")
    if request.run_id is not None and has_answers:
        raise UsageError("--run names a run and the labels have answers of their own (column answer); keep one")
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
