"""An open run: how it begins, its executor, its journal, the attempts of items that are not done yet, and whether what the run
depends on (skill folders, benchmark, request, store) was rewritten while its skills worked."""

from __future__ import annotations

import asyncio
import platform
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Self

from eval_skills.adapters.throttling import run_is_over
from eval_skills.core.errors import InputError, RunError
from eval_skills.core.fingerprint import digest_of_folder, digest_of_json, git_commit, installed_version
from eval_skills.core.models import Attempt, Skill
from eval_skills.core.models.result import ANSWER_CUT
from eval_skills.core.rate_limits.pace import MAX_WAIT_S
from eval_skills.core.rate_limits.services import MAX_THROTTLED_S, Throttled
from eval_skills.core.redaction import Redaction
from eval_skills.core.store import Journal, Manifest, ManifestBenchmark, ManifestSkill, ReachedLimit
from eval_skills.core.store.retention import refuse_pruned
from eval_skills.core.store.watch import Snapshot, foreign_changes, snapshot
from eval_skills.core.telemetry.spans import telemetry, telemetry_warnings
from eval_skills.engine.definition.request import SKIPPED, absolute_if_there
from eval_skills.engine.definition.scoring import scorer_digests
from eval_skills.engine.evaluation.answer_cache import AnswerCache
from eval_skills.engine.evaluation.execution import Outcome
from eval_skills.engine.evaluation.executor import ItemExecutor, LocalExecutor, benchmark_files
from eval_skills.engine.evaluation.observer import NullObserver
from eval_skills.engine.evaluation.plan import Item, RunPlan
from eval_skills.engine.evaluation.recorder import Recorder
from eval_skills.engine.evaluation.spending import Limits, record_stop
from eval_skills.engine.evaluation.tracing import RunTrace
from eval_skills.engine.judging.preflight import check_judges_ready
from eval_skills.scorers.answer_remarks import DUPLICATE_KEYS, run_remark

MAX_RETRY_AFTER_S = MAX_WAIT_S
"""The longest wait that a skill may ask for with ``Retry-After``."""

LOOK_AGAIN_S = 0.5
"""How often a waiting item looks whether the run has ended."""

UNREPORTED_S = 0.25
"""How long an executor elsewhere may go on with a batch before its results are here: as long as a line may wait for its sync."""

REPORTED_WAIT_S = 5.0
"""Waits of at least this long are reported to the run's observer."""


@dataclass(frozen=True, slots=True)
class RunRef:
    """The id of an open run: all that a mapped Prefect task run gets of it."""

    run_id: str


def journal_of(plan: RunPlan) -> Journal:
    """The journal of the run, open for writing.

    Raises:
        UsageError: another process writes it, or the items of the run that is resumed were deleted since it was planned: the
            rest of them alone would land as the whole run.
        RunError: it cannot be opened.
    """
    check = partial(refuse_pruned, plan.store, plan.run_id) if plan.request.resume else lambda: None
    return Journal(plan.store.journal_path(plan.run_id), secrets=plan.secrets(), check=check)


class RunSession:
    """One run's live resources, on the event loop of its task runner.

    Items are executed by `executor`, else in this process; the journal is written here. Its time counts from when it `began`
    (`time.monotonic`; None: when it is entered).
    """

    def __init__(
        self,
        plan: RunPlan,
        journal: Journal,
        observer: NullObserver,
        flow_run_id: str | None = None,
        executor: ItemExecutor | None = None,
        began: float | None = None,
    ) -> None:
        self.plan = plan
        self.limits, self._began = Limits(plan), began
        self.counts: Counter[str] = Counter()
        self._done: set[Item] = set()
        self._journal, self._observer, self._flow_run_id = journal, observer, flow_run_id
        self._stopped = False
        self._write_error: str | None = None
        self._secrets = plan.secrets()
        self._redaction = Redaction(self._secrets)
        self._executor = executor or LocalExecutor(plan)
        self._attempts: dict[Item, list[Attempt]] = {}
        self._not_before: dict[Item, float] = {}
        self._throttled_since: dict[Item, float] = {}
        self._held_until: dict[str, float] = {}
        self._reported_waits: set[str] = set()
        self._remarks: Counter[tuple[str, str]] = Counter()
        self._recorder = Recorder(plan, self._redaction) if plan.request.record else None
        self._trace = RunTrace(to, plan, self._redaction, flow_run_id) if (to := telemetry()) is not None else None
        self._cache = AnswerCache(plan, self._redaction) if plan.request.cache else None

    @classmethod
    def of(cls, run: RunRef) -> RunSession:
        """The open session of `run` in this process. Raises RunError: no such run is open here."""
        try:
            return _open_sessions[run.run_id]
        except KeyError:
            raise RunError(f"run {run.run_id} is not open in this process; start it through the evaluate flow") from None

    @property
    def stopped(self) -> bool:
        """Whether `failFast`, a limit or `is_unwritable` has ended the run: items that have not started are left for a resume."""
        return self._stopped or self.is_unwritable or self.limits.reached is not None

    @property
    def stopped_at(self) -> ReachedLimit | None:
        """The limit that has ended the run; None where nothing or something else has."""
        return None if self._stopped or self.is_unwritable else self.limits.reached

    def may_attempt(self, item: Item) -> bool:
        """Whether `item` may be attempted now: at a limit of the run, what has begun goes on, further attempts included."""
        return not self.stopped or (item in self._attempts and not self._stopped and not self.is_unwritable)

    def has_result(self, item: Item) -> bool:
        """Whether the journal has a result of `item` that was made in this session."""
        return item in self._done

    @property
    def is_unwritable(self) -> bool:
        """Whether the journal could not be written, as on a full disk: further answers, maybe paid ones, would be lost."""
        return self._write_error is not None

    @property
    def write_error(self) -> str | None:
        """Why the journal could not be written; None where it could."""
        return self._write_error

    async def __aenter__(self) -> Self:
        await self._executor.__aenter__()
        if isinstance(self._executor, LocalExecutor) and self._executor.services is not None:
            self._executor.services.listener = self._observer.throttled
        if self.plan.request.resume:
            await asyncio.to_thread(record_stop, self.plan, None)
        self._input = await asyncio.to_thread(digests_of_input, self.plan)
        self._store = await asyncio.to_thread(store_at_start, self.plan)
        await asyncio.to_thread(self.limits.begin, self._began)
        if self._cache is not None:
            await asyncio.to_thread(self._cache.prepare)
        _open_sessions[self.plan.run_id] = self
        if self._trace is not None:
            self._trace.begin()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        del _open_sessions[self.plan.run_id]
        await self._executor.__aexit__(kind, error, trace)
        self.plan.remarks.extend(run_remark(code, skill, items) for (code, skill), items in self._remarks.items())
        if self._cache is not None:
            self.plan.remarks.extend(self._cache.remarks())
        self.plan.remarks.extend(self.limits.remarks)
        self.limits.settle()
        if self._trace is not None:
            self._trace.end(None if self.stopped_at is None else self.stopped_at.limit)
        if kind is None:
            if self._trace is not None:  # what an interruption leaves is sent when the process ends
                await self._trace.send()
            self.plan.remarks.extend(telemetry_warnings())
            self.plan.remarks.extend(await asyncio.to_thread(changes_since, self._input, self.plan))
            self.plan.remarks.extend(await asyncio.to_thread(store_changes_since, self._store, self.plan, self._journal))

    async def not_before(self, item: Item) -> None:
        """Wait as long as the skill asked for after the item's last attempt, or its service for all, or until the item may not be
        attempted any more.
        """
        until = self._earliest(item)
        self._not_before.pop(item, None)
        while (rest := until - monotonic()) > 0 and self.may_attempt(item):  # noqa: ASYNC110 - a limit of time sets no event
            await asyncio.sleep(min(rest, LOOK_AGAIN_S))

    def lets_others_go_first(self, item: Item) -> bool:
        """Whether the service of `item` is waited for, and items of other skills need not wait as well."""
        return len(self.plan.skills) > 1 and self._earliest(item) > monotonic()

    def by_turn(self, items: Sequence[Item]) -> Sequence[Item]:
        """The items with those last whose service is waited for, else in their order; the same where the first need not wait."""
        return sorted(items, key=self.lets_others_go_first) if self.lets_others_go_first(items[0]) else items

    def _earliest(self, item: Item) -> float:
        return max(self._not_before.get(item, 0.0), self._held_until.get(item.skill, 0.0))

    async def attempt(self, item: Item, *, last: bool, task_run_id: str | None = None) -> Outcome:
        """Make one attempt; a final one is in the journal when this returns. `last` says that no other will follow, unless the
        outcome is `throttled`: then the same attempt is to be made again.

        Raises:
            ItemLeft: the run ended before the skill's service was asked.
        """
        if self._trace is None:
            outcome = self._without_secrets(await self._outcome(item))
        else:
            with self._trace.attempt(item, len(self._attempts.get(item, ())) + 1) as ended:
                outcome = self._without_secrets(await self._outcome(item))
                ended.append(outcome)
        return self._noted(item, outcome, last=last, task_run_id=task_run_id)

    async def attempt_some(self, items: Sequence[Item], *, last: bool, task_run_id: str | None = None) -> list[Outcome]:
        """Make the first attempt at the first of `items`, and at as many of those after it as the executor takes in one go.

        Final ones are in the journal when this returns. Only the last may be not final: where it is not the `last` attempt, or
        is `throttled`. Items follow each other unseen for `UNREPORTED_S` at most; not at all where the first that fails, or what
        one costs, may end the run, nor where each is traced, or some were tried before.

        Raises:
            ItemLeft: the run ended before the skill's service was asked.
        """
        are_open = bool(self.plan.replaced) and any(self._open_attempts(item) for item in items)
        if self._cache is not None or self._trace is not None or are_open:
            return [await self.attempt(items[0], last=last, task_run_id=task_run_id)]
        for_s = 0.0 if self.plan.request.fail_fast else min(UNREPORTED_S, self.limits.unwatched_s)
        noted: list[Outcome] = []
        token = run_is_over.set(lambda: not self.may_attempt(items[len(noted)]))
        try:
            async for outcomes in self._executor.execute_some(items, for_s, retried=not last):
                for outcome in outcomes:
                    self._count(outcome)
                    noted.append(
                        self._noted(items[len(noted)], self._without_secrets(outcome), last=last, task_run_id=task_run_id)
                    )
        finally:
            run_is_over.reset(token)
        return noted

    def _noted(self, item: Item, outcome: Outcome, *, last: bool, task_run_id: str | None) -> Outcome:
        if outcome.throttled is not None:
            if self._is_worth_waiting(item):
                self._wait_for_service(item, outcome, outcome.throttled)
                return outcome
            outcome = replace(outcome, throttled=None)
        self._throttled_since.pop(item, None)
        if outcome.transient and not last:
            self._attempts[item] = outcome.result.attempts
            self._not_before[item] = monotonic() + self._wait_s(item.skill, outcome.retry_after_s)
            self._observer.retrying(str(item), outcome.result.error_message or "")
            return outcome
        self._finish(item, outcome, task_run_id)
        return outcome

    def _is_worth_waiting(self, item: Item) -> bool:
        return monotonic() - self._throttled_since.setdefault(item, monotonic()) < MAX_THROTTLED_S

    def _wait_for_service(self, item: Item, outcome: Outcome, throttled: Throttled) -> None:
        """What was refused does not count as an attempt, unless it may have called a tool that is forbidden."""
        if outcome.result.forbidden_unknown:
            self._attempts[item] = outcome.result.attempts
        self._held_until[item.skill] = monotonic() + throttled.wait_s
        if not isinstance(self._executor, LocalExecutor):  # which has reported it
            self._observer.throttled(throttled)

    async def _outcome(self, item: Item) -> Outcome:
        earlier = self._attempts.get(item) or self._open_attempts(item)
        if self._cache is None or earlier:
            return await self._asked(item, earlier)
        async with self._cache.turn(item):
            kept = await self._cache.outcome(item)  # which was paid for when it was asked
            return await self._asked(item, earlier) if kept is None else kept

    def _open_attempts(self, item: Item) -> list[Attempt]:
        """The attempts of earlier calls of the run at this item of which it is open whether they called a forbidden tool."""
        replaced = self.plan.replaced.get(item)
        return replaced.attempts if replaced is not None and replaced.is_open else []

    async def _asked(self, item: Item, earlier: list[Attempt]) -> Outcome:
        token = run_is_over.set(lambda: not self.may_attempt(item))
        try:
            outcome = await self._executor.execute(item, earlier)
        finally:
            run_is_over.reset(token)
        self._count(outcome)
        if self._cache is not None:
            self._cache.keep(item, outcome.result)
        return outcome

    def _count(self, outcome: Outcome) -> None:
        if outcome.throttled is not None and outcome.result.cost_usd is None:  # what was refused cost nothing
            return
        if (warning := self.limits.add(outcome.result)) is not None:
            self._observer.unbounded(warning)

    def _wait_s(self, skill: str, asked_s: float) -> float:
        wait_s = min(asked_s, MAX_RETRY_AFTER_S)
        if wait_s >= REPORTED_WAIT_S and skill not in self._reported_waits:
            self._reported_waits.add(skill)
            self._observer.waiting(skill, wait_s, asked_s)
        return wait_s

    def _without_secrets(self, outcome: Outcome) -> Outcome:
        """The outcome as others may see it: its message and reasons are shown in the Prefect UI. The journal redacts the rest."""
        if not self._secrets:
            return outcome
        result, clean = outcome.result, self._redaction
        reasons = [reason.model_copy(update={"message": clean.text(reason.message)}) for reason in result.reasons]
        message = None if result.error_message is None else clean.text(result.error_message)
        return replace(outcome, result=result.model_copy(update={"error_message": message, "reasons": reasons}))

    def _finish(self, item: Item, outcome: Outcome, task_run_id: str | None) -> None:
        result = outcome.result.model_copy(update={"flow_run_id": self._flow_run_id, "task_run_id": task_run_id})
        if (replaced := self.plan.replaced.get(item)) is not None:
            result = replaced.added_to(result)
        if self._recorder is not None:
            self._recorder.add(result)  # first: what the journal has is not asked again
        try:
            self._journal.append(result)
        except RunError as error:
            self._write_error = self._write_error or str(error)
            raise
        self._attempts.pop(item, None)
        self.counts[result.status] += 1
        self._done.add(item)
        if self._trace is not None:
            self._trace.finished(item, result)
        remarked = {reason.code for reason in result.reasons} & {DUPLICATE_KEYS, ANSWER_CUT}
        self._remarks.update((code, result.skill_key) for code in sorted(remarked))
        if self.plan.request.fail_fast and not result.passed:
            self._stopped = True
        self._observer.finished(result)


_open_sessions: dict[str, RunSession] = {}


def begin_run(plan: RunPlan, flow_run_id: str | None = None) -> list[str]:
    """Write what the run is to be, or, of one that goes on, what it is held to from now on; returns remarks of judging models.

    Raises:
        UsageError: a judging model cannot be asked; no skill has been called.
        RunError: the manifest cannot be written, or a judging model cannot be reached.
    """
    remarks = check_judges_ready(plan.scorings, simulators=plan.calls_skills) if plan.items and plan.judges is not None else []
    if plan.request.resume:
        now = plan.request.to_json()
        then = plan.store.manifest(plan.run_id).request
        plan.amend_manifest(request=then | {key: now[key] for key in ("minCompletion", "exitOnFail")})
    else:
        plan.write_manifest(manifest_of(plan).model_copy(update={"flow_run_id": flow_run_id}))
    return remarks


_RECORDED_VERSIONS = ("eval-skills", "prefect", "pydantic", "pandas", "pyarrow")


def manifest_of(plan: RunPlan) -> Manifest:
    """The request, with fingerprints of everything that decides the results. Paths are absolute, so a resume finds them."""
    request = plan.request.model_copy(
        update={
            "skills": [str(skill.folder) for skill in plan.skills.values() if skill.folder],
            "traces": absolute_if_there(plan.request.traces),
            "replay": absolute_if_there(plan.request.replay),
            "record": plan.request.record and str(Path(plan.request.record).resolve()),
            # one that a program holds has a name, which is not that of a folder that happens to be here
            "benchmark": absolute_if_there(plan.request.benchmark) if plan.benchmark_path else plan.request.benchmark,
            "tasks": absolute_if_there(plan.request.tasks),
            "benchmarks_dir": absolute_if_there(plan.request.benchmarks_dir),
            "output_dir": str(Path(plan.request.output_dir).resolve()),
        }
    )
    return Manifest(
        run_id=plan.run_id,
        created_at=plan.began,
        request=request.to_json(),
        skills=[_skill(skill, plan.digests[key], plan.request.traces) for key, skill in plan.skills.items()],
        benchmark=ManifestBenchmark(
            id=plan.benchmark.id,
            version=plan.benchmark.version,
            digest=plan.digests["benchmark"],
            path=str(plan.benchmark_path) if plan.benchmark_path else None,
        ),
        versions={"python": platform.python_version(), **{name: installed_version(name) for name in _RECORDED_VERSIONS}},
        scorers=scorer_digests(plan.scorings.values(), plan.benchmark_path),
        git_commit=git_commit(Path.cwd()),
        platform=platform.platform(),
        planned_items=plan.planned,
        provenance=plan.request.provenance,
        skipped=[*plan.request.provenance.get(SKIPPED, ()), *plan.skips],
    )


def _skill(skill: Skill, digest: str, traces: str | None) -> ManifestSkill:
    path = absolute_if_there(traces) if skill.folder is None else str(skill.folder)
    called = digest_of_json({"entrypoint": skill.entrypoint, "adapterConfig": skill.adapter_config})
    return ManifestSkill(key=skill.key, digest=digest, path=path, adapter=skill.adapter_type, adapter_digest=called)


GONE = "gone"


def digests_of_input(plan: RunPlan) -> dict[str, str]:
    """What a run depends on and its skills must leave alone, by its name in a remark, with its digest by now.

    A folder that the run itself writes to, because the store or the reports lie in it, is left out.
    """
    return {name: _digest(path) for name, path in _watched(plan)}


def changes_since(before: dict[str, str], plan: RunPlan) -> list[str]:
    """A remark for each part of the input whose digest is not what it was `before`; who changed it is not known."""
    after = digests_of_input(plan)
    advice = "its items may not have met the same files; run skills with --sandbox bwrap to keep them from writing there"
    return [
        f"{name} {'is gone since' if after.get(name) == GONE else 'changed during'} the run ({digest} before): {advice}"
        for name, digest in before.items()
        if after.get(name) != digest
    ]


def store_at_start(plan: RunPlan) -> Snapshot:
    """How the store of a run is before its skills work."""
    return snapshot(plan.store.layout)


def store_changes_since(before: Snapshot, plan: RunPlan, journal: Journal) -> list[str]:
    """A remark where finished runs in the store, or this run's own journal, were changed by anything but eval-skills."""
    advice = "run skills with --sandbox bwrap to keep them from writing there"
    found = foreign_changes(before, plan.store.layout)
    remarks = [f"the store changed during the run, and not by eval-skills: {', '.join(found)}; {advice}"] if found else []
    if said := journal.foreign_change():
        remarks.append(f"the journal of this run {said}, so its results may not be those that were judged; {advice}")
    return remarks


def _watched(plan: RunPlan) -> Iterator[tuple[str, Path]]:
    own = [Path(path).resolve() for path in (plan.store.layout.root, plan.request.output_dir)]
    for skill in plan.skills.values():
        if skill.folder is not None and not any(path.is_relative_to(skill.folder.resolve()) for path in own):
            yield f"the folder of {skill.key}", skill.folder
    files = (*benchmark_files(plan), plan.store.run_folder(plan.run_id) / "manifest.json")
    yield from ((str(file), file) for file in files if file.is_file())


def _digest(path: Path) -> str:
    try:
        return digest_of_folder(path)
    except InputError:
        return GONE
