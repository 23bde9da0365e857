"""Stored answers scored again, with today's scorers and expectations. No skill is called."""

from __future__ import annotations

import asyncio
import platform
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from eval_skills.core.errors import RunError
from eval_skills.core.fingerprint import installed_version
from eval_skills.core.models import ItemResult, SkillResponse, Usage
from eval_skills.core.models.response import believed_ms
from eval_skills.core.models.result import ANSWER_CUT
from eval_skills.core.redaction import Redaction
from eval_skills.core.store import (
    Manifest,
    ManifestBenchmark,
    ManifestSkill,
    land_items,
    land_reports,
    mirror_sqlite,
    results_of,
    started_at,
    table_of,
    write_manifest,
)
from eval_skills.core.store.files import RunLock
from eval_skills.core.store.manifest import EXPERIMENT
from eval_skills.core.store.scorings import note_asked
from eval_skills.engine.definition.scoring import judges_of
from eval_skills.engine.evaluation.execution import (
    definition_fields,
    judged_turns,
    result_without_answer,
    verdict_fields,
    with_earlier_calls,
)
from eval_skills.engine.evaluation.simulated_user import STOPPED
from eval_skills.engine.judging.outcome import (
    add_judge_figures,
    failed_judging,
    item_with_cost_before,
    refuse_half_judged,
    unjudged,
)
from eval_skills.engine.judging.preflight import check_judges_ready
from eval_skills.engine.rescoring.plan import Rescoring, has_answer
from eval_skills.engine.skill_effect.experiment import effect_of_run
from eval_skills.engine.stored_runs.reports import skill_reports_of
from eval_skills.scorers.answer_remarks import DUPLICATE_KEYS


class NothingJudged(RunError):
    """The judge failed on every answer of a run; `failed` are the items, with its errors."""

    def __init__(self, message: str, failed: list[ItemResult]) -> None:
        super().__init__(message)
        self.failed = failed


def rescore(plan: Rescoring, *, concurrency: int = 4) -> None:
    """Score every answer and land the result as a separate run, dated like the original.

    Where it has landed no answer is scored, and it counts again (`scorings.counts`) where another scoring was asked for since.

    The original's rows stay unchanged. Items without an answer (errors, timeouts) are only checked for forbidden calls and else
    carried over, as are latency, cost, messages and tool calls. The items land last: until then the scoring is unfinished, and
    another call starts again under the same run id, with the judging models' verdicts in their cache. Items on which the judge
    failed land as errors, and another call scores these alone; the cost of the failure stays in their rows. Two calls of the same
    rescoring at a time are refused.

    Raises:
        UserError: a judging model cannot be asked.
        RunError: the cost limit was reached, or a judging model failed on every answer, and nothing landed; or it cannot be
            reached.
    """
    if not plan.counts or plan.store.journal_path(plan.run_id).exists():
        with scoring_lock(plan):
            _judge_and_land(plan.as_it_stands(), concurrency)
    if plan.store.layout.sqlite is not None:
        mirror_sqlite(plan.store, plan.run_id)
    plan.store.publish()


def scoring_lock(plan: Rescoring) -> RunLock:
    """The right to make this scoring; UsageError where another process has it."""
    return RunLock(plan.store.layout.root / f"rescore-{plan.run_id}.json", what=f"the scoring of run {plan.of}")


def left_unjudged(plan: Rescoring) -> list[ItemResult]:
    """The items of the landed rescoring that have no verdict because the judge failed."""
    return unjudged(results_of(plan.store.item_table(plan.run_id)))


def _judge_and_land(plan: Rescoring, concurrency: int) -> None:
    journal = plan.store.journal_path(plan.run_id)
    if plan.landed:  # before, or by another call that was faster
        note_asked(plan.store, plan.run_id)
        journal.unlink(missing_ok=True)
        return
    plan.remarks.extend(check_judges_ready(plan.basis.scorings))
    results = asyncio.run(_judged(plan, concurrency))
    refuse_half_judged(judges_of(plan.basis.scorings))
    _refuse_where_all_failed(results)
    frame = table_of(results).to_pandas(maps_as_pydicts="strict")
    basis = plan.basis
    reports = skill_reports_of(frame, basis.benchmark, basis.request.timeout_ms, detailed=True)
    reports = add_judge_figures(reports, frame, basis.scorings, plan.store)
    manifest = _manifest(plan, results)
    write_manifest(plan.store.run_folder(plan.run_id), manifest)
    journal.touch()  # which says that the scoring is unfinished: stopped between the two, its rate counts nowhere
    effect = effect_of_run(manifest, reports, basis.benchmark)
    land_reports(plan.store, plan.run_id, None, reports, origin="rescore", effect=effect)
    land_items(plan.store, plan.run_id, results)
    journal.unlink()


def _refuse_where_all_failed(results: Sequence[ItemResult]) -> None:
    answered = [result for result in results if has_answer(result)]
    failed = unjudged(answered)
    if len(failed) == len(answered):
        said = failed_judging([each.error_message or "" for each in failed], len(answered))
        raise NothingJudged(f"{said}; nothing landed: make the same call again once the judge answers", failed)


async def _judged(plan: Rescoring, concurrency: int) -> list[ItemResult]:
    places = asyncio.Semaphore(concurrency)

    async def judge(result: ItemResult) -> ItemResult:
        async with places:
            return await _judge(result, plan)

    judges = judges_of(plan.basis.scorings)
    if judges is None:
        return list(await asyncio.gather(*(judge(result) for result in plan.results)))
    judges.redaction = Redaction.of_variables(plan.basis.request.secrets)
    try:
        return list(await asyncio.gather(*(judge(result) for result in plan.results)))
    finally:
        await judges.close()


async def _judge(result: ItemResult, plan: Rescoring) -> ItemResult:
    if (known := plan.before.get(result.key)) is not None:
        return known
    basis = plan.basis
    scoring = basis.scorings[result.task_id]
    changes = definition_fields(scoring.task, result.skill_key, basis.benchmark, basis.digests)
    changes |= {"run_id": plan.run_id, "flow_run_id": None, "task_run_id": None, "origin": "rescore"}
    if has_answer(result):
        response = _response(result)
        verdict = await scoring.verdict(response)
        changes |= verdict_fields(verdict) | {"turns": judged_turns(response, verdict)}
    else:
        kind = result.error_kind or ("timeout" if result.status == "timeout" else "skill")
        changes |= result_without_answer(kind, result.error_message or result.status, scoring, _response(result))
    kept = (STOPPED, DUPLICATE_KEYS, ANSWER_CUT)  # nothing here finds them again
    remarks = [reason for reason in result.reasons if reason.code in kept]
    changes["reasons"] = [*changes["reasons"], *remarks]
    judged = with_earlier_calls(result.model_copy(update=changes), scoring)
    return item_with_cost_before(judged, plan.failed.get(result.key))


def _response(result: ItemResult) -> SkillResponse:
    return SkillResponse(
        output=result.output,
        messages=result.messages,
        tool_calls=result.tool_calls,
        content=result.content,
        finish_reason=result.finish_reason,
        usage=Usage(prompt_tokens=result.prompt_tokens, completion_tokens=result.completion_tokens),
        cost_usd=result.cost_usd,
        latency_ms=believed_ms(result.latency_ms),
        attempts=max(1, len(result.attempts)),
        turns=None if result.turns is None else [turn.answer for turn in result.turns],
        files=result.files,
        skills_loaded=result.skills_loaded,
        steps=result.steps,
    )


def _manifest(plan: Rescoring, results: Sequence[ItemResult]) -> Manifest:
    now, basis = datetime.now(UTC), plan.basis
    benchmark = basis.benchmark
    request = basis.request.model_copy(update={"origin": "rescore", "at": started_at(plan.of)})
    known = plan.manifest.skills if plan.manifest else []
    arms = {EXPERIMENT: plan.manifest.provenance[EXPERIMENT]} if plan.manifest and plan.manifest.has_arms else {}
    counted = Counter((result.skill_key, result.skill_digest) for result in results)
    return Manifest(
        run_id=plan.run_id,
        created_at=now,
        request=request.to_json(),
        skills=known or [ManifestSkill(key=key, digest=digest) for key, digest in counted],
        benchmark=ManifestBenchmark(
            id=benchmark.id,
            version=benchmark.version,
            digest=basis.digests["benchmark"],
            path=str(basis.folder) if basis.folder else None,
        ),
        versions={"python": platform.python_version(), "eval-skills": installed_version("eval-skills")},
        git_commit=plan.manifest.git_commit if plan.manifest else None,
        platform=platform.platform(),
        planned_items=len(results),
        provenance={**arms, "mode": "rescore", "of": plan.of, "digest": plan.digest, "backfilledAt": now.isoformat()},
    )
