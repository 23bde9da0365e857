"""Resuming a run that was interrupted, or running the errors of a finished one again."""

from __future__ import annotations

import json
from collections.abc import Set
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval_skills.core.config import LlmSettings
from eval_skills.core.config.options import option_of
from eval_skills.core.config.values import RunLimits
from eval_skills.core.documents.loading import validate_known
from eval_skills.core.errors import UsageError
from eval_skills.core.models import Model
from eval_skills.core.models.base import collection_paused
from eval_skills.core.models.result import ERROR_STATUSES, KEY_COLUMNS, item_key_of
from eval_skills.core.store import Manifest, Store
from eval_skills.core.store.files import RunLock, once_free
from eval_skills.core.store.newer import newer_remarks
from eval_skills.core.store.retention import refuse_pruned
from eval_skills.core.text import first_of, plural
from eval_skills.engine.definition.benchmark import digests_of_the_same
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.plan import RunPlan, folders_at, make_plan, skills_at
from eval_skills.engine.handover import held_in_memory
from eval_skills.engine.stored_runs.reports import refuse_without_evaluator
from eval_skills.engine.stored_runs.run_ids import LATEST, begun_by_now, named_run
from eval_skills.reporting.stopping import NOT_CONTINUED, replay_words, resume_words

if TYPE_CHECKING:
    import pyarrow as pa


RUN_ID_SECOND = "%Y%m%dT%H%M%SZ"
"""The moment at the beginning of a run id."""

NAMED = 5
"""So many tasks or skills are named by a remark; of more it says how many."""

_FOLLOW_THE_NEW_CALL = (
    "concurrency", "retries", "items_per_task", "task_runner", "fail_fast", "min_completion", "exit_on_fail", "format",
    "output_dir", "store", "allow_custom_code", "secrets", "resume", "retry_errors", "judge_concurrency", "max_judge_cost",
    "no_judge_cache", "no_judge_check", *RunLimits.model_fields,
)  # fmt: skip
"""What a resuming call may change; everything else decides results and stays as it was."""
_PLACES = ("skills", "benchmark", "tasks", "benchmarks_dir", "traces", "replay", "record")


def wait_for_writer(store: Store, run_id: str) -> None:
    """Return when no other process writes the run."""
    once_free(lambda: RunLock(store.journal_path(run_id), mode=store.layout.mode)).release()


def continuing(request: EvaluateRequest, run_id: str) -> EvaluateRequest:
    """The request to go on with a run that `request` itself began: what decides results stays as the manifest has it."""
    said = {name: getattr(request, name) for name in _FOLLOW_THE_NEW_CALL if name in request.model_fields_set}
    return EvaluateRequest(**{**said, "resume": run_id})


@collection_paused()
def resumed_plan(request: EvaluateRequest) -> RunPlan:
    """The rest of the run that `request.resume` names.

    `latest` is the youngest unfinished run, else the youngest of all. The request is read from the run's manifest; options that
    change no result may be changed. Skills that could not be used when it began are still skipped, and nothing is known of them.
    Changed files of a skill are a remark; a changed benchmark or changed recorded runs are
    refused: old and new answers would not belong together.

    Raises:
        UsageError: there is no such run, its benchmark or traces changed, or an option that decides results is not what it was;
            or it is a rescoring, or a replay whose commit is checked out no more.
    """
    store = Store(request.store)
    manifest = store.manifest(_run_id(store, request.resume or LATEST))
    if manifest.origin == "rescore":
        raise UsageError(
            f"run {manifest.run_id} is a rescoring of run {manifest.provenance.get('of')}, and calls no skill; "
            f"continue with: eval-skills rescore {manifest.provenance.get('of')}, and the options that it had"
        )
    refuse_pruned(store, manifest.run_id)
    if held_in_memory() is None and manifest.is_of_a_program:
        raise UsageError(f"run {manifest.run_id} {NOT_CONTINUED}")
    then, unknown = _request(manifest, request)
    if manifest.origin == "replay" and not any(Path(each).exists() for each in then.skills):
        raise UsageError(f"run {manifest.run_id} {replay_words(manifest.provenance)}")
    if held_in_memory() is not None:
        _refuse_what_a_program_cannot_hold(then, manifest.run_id)
    plan = make_plan(then, run_id=manifest.run_id)
    if held_in_memory() is not None:
        _refuse_other_skills(plan, manifest)
    table = store.item_table(plan.run_id)
    remarks = [
        *manifest.skipped,
        *plan.remarks,
        *_changes(plan, manifest),
        *_not_asked(request, plan, manifest),
        *_judged_otherwise(plan, table),
        *newer_remarks(store, manifest.run_id),
        *unknown,
    ]
    skipped = len(manifest.skipped) + plan.skipped
    return _rest(replace(plan, began=manifest.created_at, remarks=remarks, skipped=skipped), table)


def rest_of(plan: RunPlan) -> RunPlan:
    """The plan without what its run's journal or table holds by now.

    Called again once the journal is open for writing, it leaves out what another process did since the plan was made.
    """
    return _rest(plan, plan.store.item_table(plan.run_id))


def _rest(plan: RunPlan, table: pa.Table) -> RunPlan:
    rows = table.select([*KEY_COLUMNS, "status"]).to_pylist()
    keys = [item_key_of(row) for row in rows]
    again: Set[str] = ERROR_STATUSES if plan.request.retry_errors else frozenset()
    done = {key for key, row in zip(keys, rows, strict=True) if row["status"] not in again}
    left = plan.narrowed([item for item in plan.items if item.key not in done])
    if not again:
        return left
    from eval_skills.engine.evaluation.replaced import replaced_results  # which most runs have no use for

    return replace(left, replaced=replaced_results(table, keys, left.items))


def _run_id(store: Store, wanted: str) -> str:
    if wanted != LATEST:
        return named_run(store, wanted)
    # a kill before the manifest was written leaves a folder, but no run
    for run_id in store.unfinished():
        if (store.run_folder(run_id) / "manifest.json").exists():
            store.manifest(run_id)  # a damaged one must not lead to another run being resumed
    resumable = [run_id for run_id in (store.latest_run(), *store.unfinished()) if run_id and _is_resumable(store, run_id)]
    if not resumable:
        raise UsageError(f"nothing to resume: the store {store.path} holds no run; start one without --resume")
    return begun_by_now(store, resumable[-1])


def _is_resumable(store: Store, run_id: str) -> bool:
    manifest = store.find_manifest(run_id)
    return manifest is not None and manifest.origin != "rescore"


def _request(manifest: Manifest, now: EvaluateRequest) -> tuple[EvaluateRequest, list[str]]:
    """The request to go on with, and a remark on options of a newer version, which have no effect here."""
    then, unknown = validate_known(EvaluateRequest, manifest.request, source=f"manifest of run {manifest.run_id}")
    _refuse_other_answers(then, now, manifest.run_id)
    refuse_without_evaluator(manifest, then.evaluator)
    anew = {name: getattr(now, name) for name in _FOLLOW_THE_NEW_CALL if name in now.model_fields_set}
    remark = f"run {manifest.run_id} began with options that this version does not know and goes on without: {', '.join(unknown)}"
    merged = then.model_copy(update={"fail_fast": now.fail_fast, "retry_errors": now.retry_errors, **anew})
    return merged, [remark] if unknown else []


def _refuse_other_answers(then: EvaluateRequest, now: EvaluateRequest, run_id: str) -> None:
    """Refuse an option that decides results, unless it is given with the value that it had."""
    for name in EvaluateRequest.model_fields:
        given = getattr(now, name)
        if name in _FOLLOW_THE_NEW_CALL or name not in now.model_fields_set or given in (None, []):
            continue
        if isinstance(given, LlmSettings) and given.deciding == then.llm.deciding:
            continue
        if not (name in _PLACES and _same_places(given, getattr(then, name))) and given != getattr(then, name):
            raise UsageError(
                f"{option_of(name)} decides results and was {_shown(getattr(then, name))} when run {run_id} began; "
                "leave it out, or start a new run without --resume"
            )


def _same_places(given: str | list[str], then: str | list[str] | None) -> bool:
    if isinstance(given, list):  # a folder of skills stands for those in it that could be called when the run began
        return set(then or []) <= folders_at(given)
    return isinstance(then, str) and Path(given).resolve() == Path(then).resolve()


def _shown(value: Any) -> str:
    return json.dumps(value.to_json() if isinstance(value, Model) else value, ensure_ascii=False)


def _changes(plan: RunPlan, manifest: Manifest) -> list[str]:
    if manifest.benchmark.digest not in digests_of_the_same(plan.benchmark, plan.benchmark_path)["benchmark"]:
        raise UsageError(
            f"benchmark {plan.benchmark.id!r} changed since run {plan.run_id} began; start a new run without --resume"
        )
    before = {skill.key: skill.digest for skill in manifest.skills}
    if plan.recordings is not None and plan.recordings.digests != before:
        raise UsageError(f"{plan.recordings.file} changed since run {plan.run_id} began; start a new run without --resume")
    return [
        f"{key} changed since run {plan.run_id} began; its older results are kept and its new ones come from the new files"
        for key in plan.skills
        if plan.digests[key] != before.get(key)
    ]


def _not_asked(request: EvaluateRequest, plan: RunPlan, manifest: Manifest) -> list[str]:
    """A remark on skills that are named now, or are in a folder that is named, and are not of the run."""
    if not request.skills or held_in_memory() is not None or plan.recordings is not None or plan.request.own_tests:
        return []  # of those that are there, such runs ask what was recorded, or what has tests
    of_the_run = {*plan.skills, *(skill.key for skill in manifest.skills)}
    found = [each for each in skills_at(request.skills, plan.benchmark.subject).skills if each.key not in of_the_run]
    skipped = "\n".join(manifest.skipped)  # there already, and could not be used
    if not (new := sorted(each.key for each in found if str(each.folder) not in skipped)):
        return []
    was = "was" if len(new) == 1 else "were"
    return [f"{first_of(new, NAMED)} {was} not there when run {plan.run_id} began, and not asked in it; a new run asks all"]


def _judged_otherwise(plan: RunPlan, table: pa.Table) -> list[str]:
    """A remark where tasks have verdicts of something else than what judges them now; of earlier versions' it is not known."""
    rows = table.select(["task_id", "scoring_digest"]).group_by(["task_id", "scoring_digest"]).aggregate([]).to_pylist()
    known = [(row["task_id"], row["scoring_digest"]) for row in rows if row["scoring_digest"] is not None]
    tasks = sorted({task for task, digest in known if digest != plan.digests.get(f"scoring/{task}")})
    if not tasks:
        return []
    what = f"{plural(len(tasks), 'task')} ({first_of(tasks, NAMED)})"
    return [
        f"what judges {what} changed since run {plan.run_id} began; older verdicts are kept, so no comparison can count "
        "these tasks; rescore the run when it is finished"
    ]


def _refuse_what_a_program_cannot_hold(then: EvaluateRequest, run_id: str) -> None:
    if then.traces or then.own_tests:
        what = "scores recorded answers" if then.traces else "asks each skill its own tests"
        raise UsageError(f"run {run_id} {what}; continue with: {resume_words(run_id, then.store)}")


def _refuse_other_skills(plan: RunPlan, manifest: Manifest) -> None:
    asked, given = {skill.key for skill in manifest.skills}, set(plan.skills)
    if asked != given:
        raise UsageError(
            f"run {manifest.run_id} evaluates {', '.join(sorted(asked))}, and these skills are {', '.join(sorted(given))}; "
            "give the same ones, or start a new run without --resume"
        )
