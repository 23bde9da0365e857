"""A judge held against people's labels: of a stored run, or of answers that are judged now. Plain: no Prefect."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eval_skills.core.calibration import LabelledItem, calibrate
from eval_skills.core.errors import InputError, UsageError, nearest
from eval_skills.core.fingerprint import digest_of_json
from eval_skills.core.labels import Label, read_labels
from eval_skills.core.models import Benchmark, ItemResult, Reason, SkillResponse
from eval_skills.core.redaction import Redaction
from eval_skills.core.store import Store, new_run_id, results_of
from eval_skills.reporting.figures import plural
from eval_skills.scorers import TaskScoring
from eval_skills.scorers.judging.identity import JudgeIdentity
from eval_skills.tasks.asked_benchmark import benchmark_of, scorings_of
from eval_skills.tasks.calibrate_request import CalibrateRequest
from eval_skills.tasks.calibration_landing import CalibrationOutcome, land_calibrations
from eval_skills.tasks.compare_request import asked_instead
from eval_skills.tasks.judged_items import QUALITY, judges_by_task, recorded_judges, was_judged
from eval_skills.tasks.judging import judges_of, judging_lines, make_ready, refuse_half_judged
from eval_skills.tasks.labelled_items import matched
from eval_skills.tasks.report_source import LATEST, recorded_request
from eval_skills.tasks.request import EvaluateRequest


@dataclass(frozen=True, slots=True)
class JudgedLabel:
    """A label with what became of its answer; `score` None: no verdict of a model, for the reason `why`."""

    label: Label
    judge: JudgeIdentity | None = None
    score: float | None = None
    passed: bool = False
    why: str = ""


def calibrate_judge(request: CalibrateRequest) -> CalibrationOutcome:
    """Hold the judge against the labels, and keep the result: from then on reports correct its completion rates.

    Raises:
        UserError: the labels, the run or the benchmark cannot be used, a label fits no item or several, no item has a verdict, or
            the calibration that holds has more labels and nothing forces it.
        RunError: answers are judged now, and the judge cannot be reached or its budget is spent.
    """
    labels = read_labels(Path(request.labels))
    _check_source(request, labels)
    store = Store(request.store)
    benchmark, judged, run_id, remarks = _of_run(store, request, labels) if request.run_id else _now(request, labels)
    found = _by_judge(judged)
    if not found:
        why = Counter(each.why for each in judged).most_common(1)[0][0]
        raise InputError(f"no label is of an item with a model's verdict: {why}", source=request.labels)
    unjudged = len(judged) - sum(map(len, found.values()))
    remarks += _unjudged(judged)
    now = datetime.now(UTC)
    outcome = {
        new_run_id(now): calibrate(
            [_item(each, request.pass_at) for each in group],
            benchmark_id=benchmark.id,
            benchmark_version=benchmark.version,
            benchmark_digest=digest_of_json(benchmark.to_json()),
            model=judge.model,
            prompt=judge.prompt,
            at=now,
            run_id=run_id,
            unjudged=unjudged,
        )
        for judge, group in sorted(found.items())
    }
    remarks += land_calibrations(store, outcome, force=request.force)
    return CalibrationOutcome(outcome, store.path, remarks)


def _check_source(request: CalibrateRequest, labels: Sequence[Label]) -> None:
    has_answers = labels[0].answer is not None
    if request.run_id is None and not has_answers:
        raise UsageError("what was judged? Name its run with --run, or give the labels a column answer, to be judged now")
    if request.run_id is not None and has_answers:
        raise UsageError("--run names a run and the labels have answers of their own (column answer); keep one")
    if request.run_id is None and not (request.benchmark or request.tasks):
        raise UsageError("the answers are judged by a benchmark's tasks; name it with --benchmark")


def _of_run(
    store: Store, request: CalibrateRequest, labels: Sequence[Label]
) -> tuple[Benchmark, list[JudgedLabel], str, list[str]]:
    run_id = store.latest_run() if request.run_id == LATEST else request.run_id
    if run_id is None:
        raise UsageError(f"the store {store.path} holds no run to be held against labels")
    if run_id not in store.run_ids():
        store.manifest(run_id)
    then = recorded_request(store.find_manifest(run_id))
    if then is None:
        raise InputError(f"the manifest of run {run_id} cannot be read, so it is not known which model judged", source=store.path)
    everything: dict[str, Any] = {"task_tags": [], "task_ids": [], "complexity": []}
    asked = then.model_copy(update=everything | asked_instead(request))
    benchmark, folder = benchmark_of(asked)
    judges = recorded_judges(asked, benchmark, folder)
    results = results_of(store.item_table(run_id))
    if not results:
        raise InputError(f"run {run_id} has no finished item", source=store.path)
    if (was := results[0].benchmark_id) != benchmark.id:
        raise InputError(f"run {run_id} was asked {was}, not {benchmark.id}", source=store.path)
    digests = {task.id: digest_of_json(task.to_json()) for task in benchmark.tasks}
    labelled = matched(labels, results, request.labels, run_id)
    return benchmark, [_stored(label, item, judges, digests) for label, item in labelled], run_id, []


def _stored(label: Label, item: ItemResult, judges: Mapping[str, JudgeIdentity], digests: Mapping[str, str]) -> JudgedLabel:
    judge = judges.get(item.task_id)
    if item.task_digest is not None and item.task_digest != digests.get(item.task_id):
        return JudgedLabel(label, why="its task is another one today")
    if judge is None:
        return JudgedLabel(label, why="its task is not judged by a model")
    return _judged(label, judge, item.status, item.reasons, item.dimensions.get(QUALITY, item.score), item.passed)


def _judged(
    label: Label, judge: JudgeIdentity, status: str, reasons: Sequence[Reason], score: float | None, passed: bool
) -> JudgedLabel:
    if status in ("error", "timeout"):
        return JudgedLabel(label, why="it ended in an error")
    if score is None or not was_judged(status, reasons):
        return JudgedLabel(label, why="it failed before a model was asked")
    return JudgedLabel(label, judge, score, passed)


def _now(request: CalibrateRequest, labels: Sequence[Label]) -> tuple[Benchmark, list[JudgedLabel], None, list[str]]:
    asked = {name: value for name in ("benchmark", "tasks", "benchmarks_dir", "evaluator") if (value := getattr(request, name))}
    evaluation = EvaluateRequest(**asked, **request.judge_options())  # type: ignore[arg-type] # they are its own fields
    benchmark, folder = benchmark_of(evaluation)
    scorings = scorings_of(evaluation, benchmark, folder)
    judges = judges_by_task(scorings)
    for label in labels:
        if label.task_id not in scorings:
            hint = nearest(label.task_id, scorings)
            raise InputError(f"line {label.line}: {benchmark.id} has no task {label.task_id!r}{hint}", source=request.labels)
    needed = {name: scoring for name, scoring in scorings.items() if name in {label.task_id for label in labels}}
    remarks = make_ready(needed)
    judged = asyncio.run(_all_judged(labels, scorings, judges, request))
    refuse_half_judged(judges_of(needed))
    return benchmark, judged, None, [*remarks, *judging_lines(judges_of(needed), "latest")]


async def _all_judged(
    labels: Sequence[Label], scorings: Mapping[str, TaskScoring], judges: Mapping[str, JudgeIdentity], request: CalibrateRequest
) -> list[JudgedLabel]:
    shared = judges_of(scorings)
    if shared is None:
        return [JudgedLabel(label, why="its task is not judged by a model") for label in labels]
    shared.redaction = Redaction({name: os.environ[name] for name in request.secrets if os.environ.get(name)})

    async def judge(label: Label) -> JudgedLabel:
        if label.task_id not in judges:
            return JudgedLabel(label, why="its task is not judged by a model")
        verdict = await scorings[label.task_id].verdict(SkillResponse(output=_answer(label.answer or "")))
        score = verdict.dimensions.get(QUALITY, verdict.score)
        return _judged(label, judges[label.task_id], verdict.status, verdict.reasons, score, verdict.passed)

    try:
        return list(await asyncio.gather(*(judge(label) for label in labels)))
    finally:
        await shared.close()


def _answer(cell: str) -> Any:
    """A cell that is a JSON object or array is one; anything else is text."""
    if cell.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            return cell
    return cell


def _by_judge(judged: Sequence[JudgedLabel]) -> dict[JudgeIdentity, list[JudgedLabel]]:
    found: dict[JudgeIdentity, list[JudgedLabel]] = {}
    for each in judged:
        if each.judge is not None and each.score is not None:
            found.setdefault(each.judge, []).append(each)
    return found


def _item(judged: JudgedLabel, pass_at: float) -> LabelledItem:
    label = judged.label
    return LabelledItem(
        task_id=label.task_id,
        human_score=label.score,
        human_passed=label.score >= pass_at - 1e-9,
        judge_score=judged.score or 0.0,
        judge_passed=judged.passed,
    )


def _unjudged(judged: Sequence[JudgedLabel]) -> Iterator[str]:
    for why, count in Counter(each.why for each in judged if each.why).items():
        yield f"{plural(count, 'label')} left out: {why}"
