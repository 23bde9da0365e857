"""Stored answers scored again, with today's scorers and expectations. No skill is called. Plain: no Prefect."""

from __future__ import annotations

import asyncio
import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.fingerprint import digest_of_json
from eval_skills.core.models import EvalTask, ItemResult, SkillResponse, Usage
from eval_skills.core.store import (
    Manifest,
    ManifestBenchmark,
    ManifestSkill,
    Store,
    derived_run_id,
    land_items,
    land_reports,
    mirror_sqlite,
    results_of,
    started_at,
    table_of,
    write_manifest,
)
from eval_skills.reporting.figures import plural
from eval_skills.tasks.report_source import LATEST, recorded_request, skill_reports_of
from eval_skills.tasks.request import EvaluateRequest
from eval_skills.tasks.rescore_request import RescoreRequest
from eval_skills.tasks.yardstick import Yardstick, yardstick_of

ItemKey = tuple[str, str, int]

JUDGED_AGAIN = frozenset({"scorer", "judge"})
"""Error kinds of items that do have an answer: it was the scoring that broke."""

_NAMES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Rescoring:
    """A scoring of one run's answers, checked and ready to be done.

    `results` are the items as they are, without those that cannot be scored again (`remarks` count them). `run_id` is where it
    lands; `landed` says that the same scoring has landed there already.
    """

    store: Store
    of: str
    run_id: str
    digest: str
    yardstick: Yardstick
    results: list[ItemResult]
    manifest: Manifest | None
    landed: bool = False
    remarks: list[str] = field(default_factory=list)


def plan_rescoring(request: RescoreRequest) -> Rescoring:
    """Everything that can be known before the first answer is judged; nothing is written.

    Raises:
        UsageError: there is no such run, or it is unfinished.
        InputError: its benchmark is not there any more, or nothing of it can be scored again.
    """
    store = Store(request.store)
    of = _finished_run(store, request.run_id)
    manifest = store.find_manifest(of)
    table = store.item_table(of)
    results, cut = results_of(table), table["output_truncated"].to_pylist()
    yardstick = yardstick_of(request, _recorded(manifest, results, request))
    truncated = {result.key for result, was_cut in zip(results, cut, strict=True) if was_cut and _has_answer(result)}
    left, remarks = _scorable(results, truncated, yardstick, of)
    digest = rescoring_digest(store, of, yardstick)
    landed = find_scored(store, started_at(of), "rescore", digest)
    taken = set() if landed and not request.force else set(store.run_ids())
    return Rescoring(
        store=store,
        of=of,
        run_id=landed if landed and not request.force else derived_run_id(started_at(of), digest, taken),
        digest=digest,
        yardstick=yardstick,
        results=left,
        manifest=manifest,
        landed=bool(landed) and not request.force and landed in store.tables.files("items"),
        remarks=[*_changes(manifest, left, yardstick, of), *remarks],
    )


def rescoring_digest(store: Store, of: str, yardstick: Yardstick) -> str:
    """What stands for one scoring: the stored items, and everything that judges them."""
    return digest_of_json({"items": store.tables.digest("items", of), "scoring": yardstick.digest})


def find_scored(store: Store, moment: datetime, mode: str, digest: str) -> str | None:
    """The run at this moment whose provenance has this mode and digest, landed or only begun; None where there is none."""
    at = moment.replace(microsecond=0)
    for run_id in reversed([run_id for run_id in store.run_ids() if started_at(run_id) == at]):
        manifest = store.find_manifest(run_id)
        if manifest and (manifest.provenance.get("mode"), manifest.provenance.get("digest")) == (mode, digest):
            return run_id
    return None


def rescore(plan: Rescoring, *, concurrency: int = 4) -> None:
    """Judge every answer and land the scoring as a run of its own, at the moment of the original; nothing where it has landed.

    The original's rows stay as they are. What is not judged (errors, timeouts), and latency, cost, messages and tool calls, are
    carried over. The items land last: until then, calling again does it all again under the same run id.
    """
    if not plan.landed:
        _judge_and_land(plan, concurrency)
    if plan.store.layout.sqlite is not None:
        mirror_sqlite(plan.store, plan.run_id)


def _judge_and_land(plan: Rescoring, concurrency: int) -> None:
    results = asyncio.run(_judged(plan, concurrency))
    frame = table_of(results).to_pandas(maps_as_pydicts="strict")
    yardstick = plan.yardstick
    reports = skill_reports_of(frame, yardstick.benchmark, yardstick.request.timeout_ms, detailed=True)
    write_manifest(plan.store.run_folder(plan.run_id), _manifest(plan, results))
    land_reports(plan.store, plan.run_id, None, reports, origin="rescore")
    land_items(plan.store, plan.run_id, results)


def _finished_run(store: Store, given: str) -> str:
    run_id = store.latest_run() if given == LATEST else given
    if run_id is None:
        raise UsageError(f"nothing to score again: the store {store.path} holds no run")
    if run_id not in store.run_ids():
        store.manifest(run_id)
    if run_id in store.unfinished():
        raise UsageError(f"run {run_id} is unfinished; finish it first with: eval-skills eval --resume {run_id}")
    return run_id


def _recorded(manifest: Manifest | None, results: Sequence[ItemResult], request: RescoreRequest) -> EvaluateRequest:
    then = recorded_request(manifest)
    if then is None and request.benchmark is None and request.tasks is None:
        benchmark = results[0].benchmark_id
        raise InputError(f"the run's manifest cannot be read; say what judges its answers, as with --benchmark {benchmark}")
    return then or EvaluateRequest()


def _scorable(
    results: Sequence[ItemResult], truncated: set[ItemKey], yardstick: Yardstick, of: str
) -> tuple[list[ItemResult], list[str]]:
    benchmark = yardstick.benchmark
    gone = [result for result in results if result.task_id not in yardstick.scorings]
    here = [result for result in results if result.task_id in yardstick.scorings]
    left = [result for result in here if result.key not in truncated]
    unanswered = sum(not _has_answer(result) for result in left)
    remarks = []
    if gone:
        names = _named({result.task_id for result in gone})
        remarks.append(f"{plural(len(gone), 'item')} left out: {benchmark.id}@{benchmark.version} does not have {names}")
    if len(left) < len(here):
        count = plural(len(here) - len(left), "item")
        remarks.append(f"{count} left out: the answer was cut to 64 KiB when it landed, so it cannot be judged")
    if unanswered:
        remarks.append(f"{plural(unanswered, 'item')} kept as an error or timeout: there is no answer to judge")
    if unanswered == len(left):
        raise InputError(f"nothing of run {of} can be scored again: {'; '.join(remarks)}", source=yardstick.request.store)
    return left, remarks


def _has_answer(result: ItemResult) -> bool:
    return result.status in {"pass", "fail"} or result.error_kind in JUDGED_AGAIN


def _changes(manifest: Manifest | None, results: Sequence[ItemResult], yardstick: Yardstick, of: str) -> list[str]:
    then = manifest.benchmark if manifest else None
    now = yardstick.benchmark
    if then is not None and then.id != now.id:
        return [f"run {of} was asked {then.id}@{then.version}; its answers are judged by {now.id}@{now.version}"]
    digests = {result.task_id: result.task_digest for result in results}
    changed = {name for name, digest in digests.items() if digest not in (None, yardstick.digests[f"task/{name}"])}
    if not changed:
        return []
    return [
        f"{plural(len(changed), 'task')} changed since run {of} ({_named(changed)}): the answers are judged by what is expected "
        "today; where the input changed, they answer another question"
    ]


def _named(names: set[str]) -> str:
    shown = sorted(names)
    more = f" and {len(shown) - _NAMES_SHOWN} more" if len(shown) > _NAMES_SHOWN else ""
    return ", ".join(map(repr, shown[:_NAMES_SHOWN])) + more


async def _judged(plan: Rescoring, concurrency: int) -> list[ItemResult]:
    places = asyncio.Semaphore(concurrency)

    async def judge(result: ItemResult) -> ItemResult:
        async with places:
            return await _judge(result, plan)

    return list(await asyncio.gather(*(judge(result) for result in plan.results)))


async def _judge(result: ItemResult, plan: Rescoring) -> ItemResult:
    scoring = plan.yardstick.scorings[result.task_id]
    changes = _belonging(scoring.task, plan)
    if _has_answer(result):
        verdict = await scoring.verdict(_response(result))
        broke = verdict.status == "error" and bool(verdict.reasons)
        changes |= {
            "status": verdict.status,
            "score": verdict.score,
            "passed": verdict.passed,
            "scorer": verdict.scorer,
            "dimensions": verdict.dimensions,
            "reasons": verdict.reasons,
            "error_kind": verdict.error_kind,
            "error_message": verdict.reasons[0].message if broke else None,
            "judge_tokens": None,
            "judge_cost_usd": None,
        }
    return result.model_copy(update=changes)


def _response(result: ItemResult) -> SkillResponse:
    return SkillResponse(
        output=result.output,
        messages=result.messages,
        tool_calls=result.tool_calls,
        usage=Usage(prompt_tokens=result.prompt_tokens, completion_tokens=result.completion_tokens),
        cost_usd=result.cost_usd,
        latency_ms=result.latency_ms,
        attempts=max(1, len(result.attempts)),
    )


def _belonging(task: EvalTask, plan: Rescoring) -> dict[str, Any]:
    benchmark, digests = plan.yardstick.benchmark, plan.yardstick.digests
    return {
        "run_id": plan.run_id,
        "flow_run_id": None,
        "task_run_id": None,
        "benchmark_id": benchmark.id,
        "benchmark_version": benchmark.version,
        "benchmark_digest": digests["benchmark"],
        "task_digest": digests[f"task/{task.id}"],
        "tags": task.tags,
        "complexity": task.complexity,
        "weight": task.weight,
        "origin": "rescore",
    }


def _manifest(plan: Rescoring, results: Sequence[ItemResult]) -> Manifest:
    now, yardstick = datetime.now(UTC), plan.yardstick
    benchmark = yardstick.benchmark
    request = yardstick.request.model_copy(update={"origin": "rescore", "at": started_at(plan.of)})
    known = plan.manifest.skills if plan.manifest else []
    counted = Counter((result.skill_key, result.skill_digest) for result in results)
    return Manifest(
        run_id=plan.run_id,
        created_at=now,
        request=request.to_json(),
        skills=known or [ManifestSkill(key=key, digest=digest) for key, digest in counted],
        benchmark=ManifestBenchmark(
            id=benchmark.id,
            version=benchmark.version,
            digest=yardstick.digests["benchmark"],
            path=str(yardstick.folder) if yardstick.folder else None,
        ),
        versions={"python": platform.python_version(), "eval-skills": version("eval-skills")},
        git_commit=plan.manifest.git_commit if plan.manifest else None,
        platform=platform.platform(),
        planned_items=len(results),
        provenance={"mode": "rescore", "of": plan.of, "digest": plan.digest, "backfilledAt": now.isoformat()},
    )
