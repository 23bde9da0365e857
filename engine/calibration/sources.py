"""The verdicts that labels are compared with: those of a stored run, or new ones on answers in the labels' file."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from eval_skills.core.errors import InputError, RunError
from eval_skills.core.judging.labels import Label
from eval_skills.core.models import ItemResult, SkillResponse, Verdict
from eval_skills.core.redaction import Redaction
from eval_skills.core.store import Store, results_of
from eval_skills.core.text import nearest
from eval_skills.engine.calibration.labels import NO_MODEL, JudgedLabel, LabelledAnswers, matched
from eval_skills.engine.calibration.request import CalibrateRequest
from eval_skills.engine.definition.benchmark import (
    benchmark_digests,
    check_judges,
    digests_of_the_same,
    resolve_scored,
    with_every_task,
)
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.definition.scoring import judges_by_task, judges_of, scoring_digests
from eval_skills.engine.judging.outcome import QUALITY, failed_judging, going_on, judging_lines, refuse_half_judged
from eval_skills.engine.judging.preflight import check_judges_ready
from eval_skills.engine.stored_runs.reports import recorded_request
from eval_skills.engine.stored_runs.run_ids import LATEST, resolve_run_id
from eval_skills.scorers import TaskScoring
from eval_skills.scorers.judging.model import JudgeIdentity


def read_stored_verdicts(store: Store, request: CalibrateRequest, labels: Sequence[Label]) -> LabelledAnswers:
    """The labels, each with the verdict of its item in a stored run.

    Raises:
        UserError: there is no such run, its benchmark cannot be used, or a label fits no item or several.
    """
    run_id = resolve_run_id(store, request.run_id or LATEST, "nothing to compare labels with")
    then = recorded_request(store.find_manifest(run_id))
    if then is None:
        raise InputError(f"the manifest of run {run_id} cannot be read, so it is not known which model judged", source=store.path)
    asked = with_every_task(then, request.benchmark, request.tasks, request.benchmarks_dir)
    scored = resolve_scored(asked)
    benchmark, folder, judges = scored.benchmark, scored.folder, judges_by_task(scored.scorings)
    results = results_of(store.item_table(run_id))
    if not results:
        raise InputError(f"run {run_id} has no finished item", source=store.path)
    if (was := results[0].benchmark_id) != benchmark.id:
        raise InputError(f"run {run_id} evaluated {was}, not {benchmark.id}", source=store.path)
    same = digests_of_the_same(benchmark, folder) | {
        name: frozenset({digest}) for name, digest in scoring_digests(scored.scorings).items()
    }
    judged = [_stored(label, item, judges, same) for label, item in matched(labels, results, request.labels, run_id)]
    return LabelledAnswers(benchmark, benchmark_digests(benchmark, folder)["benchmark"], judged, run_id)


def _stored(
    label: Label, item: ItemResult, judges: Mapping[str, JudgeIdentity], same: Mapping[str, frozenset[str]]
) -> JudgedLabel:
    judge = judges.get(item.task_id)
    if item.task_digest not in (None, *same.get(f"task/{item.task_id}", ())):
        return JudgedLabel(label, why="its task was changed since")
    if judge is None:
        return JudgedLabel(label, why=NO_MODEL)
    if item.scoring_digest not in (None, *same.get(f"scoring/{item.task_id}", ())):  # the version of the prompt, for one
        return JudgedLabel(label, why="what judges its task was changed since")
    return JudgedLabel.of(label, judge, item.status, item.reasons, item.dimensions.get(QUALITY, item.score), item.passed)


Judged = tuple[JudgedLabel, Verdict | None]


def judge_labels(request: CalibrateRequest, labels: Sequence[Label]) -> LabelledAnswers:
    """The labels, each with a new verdict on its answer.

    Raises:
        UserError: the benchmark cannot be used, or has no such task; a judging model cannot be asked.
        RunError: a judging model cannot be reached, fails on every answer, or its cost limit is reached.
    """
    asked = {name: value for name in ("benchmark", "tasks", "benchmarks_dir", "evaluator") if (value := getattr(request, name))}
    evaluation = EvaluateRequest(**asked, **request.judge_options())  # type: ignore[arg-type] # they are its own fields
    scored = resolve_scored(evaluation)
    benchmark, folder, scorings = scored.benchmark, scored.folder, check_judges(scored.scorings)
    for label in labels:
        if label.task_id not in scorings:
            hint = nearest(label.task_id, scorings)
            raise InputError(f"line {label.line}: {benchmark.id} has no task {label.task_id!r}{hint}", source=request.labels)
    _refuse_same_answers(labels, request.labels)
    needed = {name: scoring for name, scoring in scorings.items() if name in {label.task_id for label in labels}}
    remarks = check_judges_ready(needed)
    judged = asyncio.run(_all_judged(labels, scorings, request))
    refuse_half_judged(judges_of(needed))
    failed = [verdict for _, verdict in judged if verdict is not None and verdict.error_kind == "judge"]
    if failed:
        remarks.append(_failed(failed, judged, request))
    return LabelledAnswers(
        benchmark,
        benchmark_digests(benchmark, folder)["benchmark"],
        [label for label, _ in judged],
        failed=len(failed),
        remarks=[*remarks, *judging_lines(judges_of(needed), "latest")],
    )


def _refuse_same_answers(labels: Sequence[Label], source: str) -> None:
    """The judge sees the task and the answer alone: two labels of both are one, or contradict each other.

    Raises:
        InputError: two labels of one answer to a task differ, or say of the same item what was said of it; the message names the
            lines.
    """
    first: dict[tuple[str, str | None], Label] = {}
    items: set[tuple[str, str | None, str | None, int | None]] = set()
    for label in labels:
        other = first.setdefault((label.task_id, label.answer), label)
        again = f"line {label.line} labels the same answer to task {label.task_id!r} as line {other.line}"
        if label.score != other.score:
            said = f"{again}, with {label.score:g} where that says {other.score:g}; keep the one that is right"
            raise InputError(said, source=source)
        if (item := (label.task_id, label.answer, label.skill, label.run_index)) in items:
            raise InputError(f"{again}; keep one, or tell their items apart with skill_id or run_index", source=source)
        items.add(item)


def _failed(failed: Sequence[Verdict], judged: Sequence[Judged], request: CalibrateRequest) -> str:
    """The remark on answers that the judge failed on; RunError where it failed on all of them."""
    asked = sum(verdict is not None for _, verdict in judged)
    said = failed_judging([each.reasons[0].message for each in failed], asked, "answer")
    if len(failed) == asked:
        raise RunError(f"{said}; nothing was kept")
    if request.no_judge_cache:
        return f"{said}; with --no-judge-cache the same call asks about all of them again"
    return f"{said}; {going_on(no_judge_cache=False)}"


async def _all_judged(labels: Sequence[Label], scorings: Mapping[str, TaskScoring], request: CalibrateRequest) -> list[Judged]:
    judges, shared = judges_by_task(scorings), judges_of(scorings)
    if shared is None:
        return [(JudgedLabel(label, why=NO_MODEL), None) for label in labels]
    shared.redaction = Redaction.of_variables(request.secrets)
    try:
        return list(await asyncio.gather(*(_judged(label, scorings, judges) for label in labels)))
    finally:
        await shared.close()


async def _judged(label: Label, scorings: Mapping[str, TaskScoring], judges: Mapping[str, JudgeIdentity]) -> Judged:
    if label.task_id not in judges:
        return JudgedLabel(label, why=NO_MODEL), None
    verdict = await scorings[label.task_id].verdict(SkillResponse(output=_answer(label.answer or "")))
    score = verdict.dimensions.get(QUALITY, verdict.score)
    judged = JudgedLabel.of(label, judges[label.task_id], verdict.status, verdict.reasons, score, verdict.passed)
    return judged, verdict


def _answer(cell: str) -> Any:
    """A cell that is a JSON object or array is one; anything else is text."""
    if cell.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            return cell
    return cell
