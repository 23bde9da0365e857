"""The verdicts that labels are compared with: those of a stored run, or new ones on answers in the labels' file."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eval_skills.core.errors import InputError, RunError, UsageError
from eval_skills.core.judging.calibration import Calibration
from eval_skills.core.judging.labels import Label
from eval_skills.core.models import Benchmark, ItemResult, SkillResponse, Verdict
from eval_skills.core.redaction import Redaction
from eval_skills.core.store import Store, results_of
from eval_skills.core.store.rows import last_calibrations
from eval_skills.core.text import nearest, plural
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
from eval_skills.engine.judging.outcome import QUALITY, failed_judging, going_on, refuse_half_judged, spending_lines
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
        return JudgedLabel(label, judge, why="its task was changed since")
    if judge is None:
        return JudgedLabel(label, why=NO_MODEL)
    if item.scoring_digest not in (None, *same.get(f"scoring/{item.task_id}", ())):  # the version of the prompt, for one
        return JudgedLabel(label, judge, why="what judges its task was changed since")
    return JudgedLabel.of(label, judge, item.status, item.reasons, item.dimensions.get(QUALITY, item.score), item.passed)


Judged = tuple[JudgedLabel, Verdict | None]


def judge_labels(request: CalibrateRequest, labels: Sequence[Label]) -> LabelledAnswers:
    """The labels, each with a new verdict on its answer.

    Raises:
        UserError: the benchmark cannot be used, or has no such task; the current calibration has more labels; a judging model
            cannot be asked.
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
    judges = judges_by_task(scorings)
    counts = Counter(judges[label.task_id] for label in labels if label.task_id in judges)
    refuse_fewer_labels(current_calibrations(Store(request.store), benchmark, counts), counts, force=request.force)
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
        remarks=[*remarks, *spending_lines(judges_of(needed))],
    )


def current_calibrations(store: Store, benchmark: Benchmark, judges: Iterable[JudgeIdentity]) -> dict[JudgeIdentity, Calibration]:
    """The calibrations of this version of the benchmark that are in force, of those judges that have one."""
    last = last_calibrations(store, benchmark.id, benchmark.version)
    found = {judge: last.get((judge.model, judge.prompt)) for judge in judges}
    return {judge: each for judge, each in found.items() if each and each.benchmark_version == benchmark.version}


def refuse_fewer_labels(current: Mapping[JudgeIdentity, Calibration], now: Mapping[JudgeIdentity, int], *, force: bool) -> None:
    """Refuse to replace calibrations by ones with fewer labels, of which there are so many `now`.

    Raises:
        UsageError: that would be so, without `force`.
    """
    for judge, old in current.items():
        if old.labels > now[judge] and not force:
            raise UsageError(f"nothing was kept: {named(old)}, and now there are {now[judge]}; replace it with --force")


def named(calibration: Calibration) -> str:
    """``the calibration of openai/gpt-4o of 2026-11-22 09:25 has 32 labels``."""
    moment = f"{calibration.calibrated_at:%Y-%m-%d %H:%M}"
    return f"the calibration of {calibration.model} of {moment} has {plural(calibration.labels, 'label')}"


def _refuse_same_answers(labels: Sequence[Label], source: str) -> None:
    """The judge sees the task and the answer alone: two labels of both are one, or contradict each other.

    Raises:
        InputError: two labels of one answer to a task differ, or are of the same item; the message names the lines.
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
