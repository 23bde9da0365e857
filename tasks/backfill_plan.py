"""What a backfill has to do: its periods, what goes into each, and which of them are up to date. Plain: no Prefect."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from eval_skills.core.errors import InputError, UsageError, UserError
from eval_skills.core.fingerprint import digest_of_json
from eval_skills.core.periods import Every, Period, moment_period, period_of
from eval_skills.core.store import Manifest, Store, started_at
from eval_skills.reporting.figures import plural
from eval_skills.tasks.backfill_request import BackfillRequest
from eval_skills.tasks.places import check_places
from eval_skills.tasks.report_source import recorded_request
from eval_skills.tasks.request import EvaluateRequest
from eval_skills.tasks.rescoring import rescoring_digest
from eval_skills.tasks.revisions import Repository, Revision
from eval_skills.tasks.run_figures import todays_benchmark
from eval_skills.tasks.yardstick import Yardstick, yardstick_of

COURSE = frozenset({"run", "replay"})
"""The runs that a backfill works on: those that speak of a skill's course."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a period is made of: a stored run, or a commit. `digest` stands for all that decides what comes of it.

    `skills` (``id@version``) and `benchmark` (its id) are known of a run; of a commit they are empty.
    """

    name: str
    moment: datetime
    digest: str
    skills: frozenset[str] = frozenset()
    benchmark: str = ""


@dataclass(frozen=True, slots=True)
class PeriodWork:
    """One period and its sources, oldest first. `landed` says that its comparisons are in the store already."""

    period: Period
    sources: tuple[Source, ...]
    digest: str
    landed: bool


@dataclass(frozen=True, slots=True)
class BackfillPlan:
    """The periods, oldest first; `earlier` are the runs before them that the first ones are compared with.

    `yardstick` is that of a replay.
    """

    request: BackfillRequest
    store: Store
    works: list[PeriodWork]
    earlier: list[Source] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    yardstick: Yardstick | None = None

    @property
    def pending(self) -> list[PeriodWork]:
        """The periods that there is something to do for."""
        return [work for work in self.works if self.request.force or not work.landed]


def plan_backfill(request: BackfillRequest) -> BackfillPlan:
    """Everything that a backfill will do, checked; nothing is written.

    Raises:
        UserError: there is no such store or repository, nothing in it lies in that time, or it cannot be used.
    """
    store = Store(request.store)
    return _replay_plan(request, store) if request.mode == "replay" else _stored_plan(request, store)


def _stored_plan(request: BackfillRequest, store: Store) -> BackfillPlan:
    unfinished, landed = set(store.unfinished()), store.tables.files("items")
    runs = [(run_id, store.find_manifest(run_id)) for run_id in store.run_ids() if run_id in landed]
    runs = [(run_id, manifest) for run_id, manifest in runs if manifest is None or manifest.origin in COURSE]
    inside = [each for each in runs if _is_inside(started_at(each[0]), request.since, request.until)]
    left_open = [run_id for run_id, _ in inside if run_id in unfinished]
    if not inside:
        raise UsageError(f"no run of the store {store.path} lies in this time; it holds {_span([run_id for run_id, _ in runs])}")
    maker = _SourceMaker(request, store)
    sources = [source for each in inside if each[0] not in unfinished and (source := maker.source(*each)) is not None]
    if not sources:
        raise InputError(f"none of the {plural(len(inside), 'run')} in this time can be used: {'; '.join(maker.remarks)}")
    remarks = list(dict.fromkeys(maker.remarks))
    if left_open:
        remarks.append(f"{plural(len(left_open), 'run')} left out: unfinished; the last is {left_open[-1]}")
    earlier = []
    if request.mode == "recompute" and request.since is not None:
        before = [each for each in runs if started_at(each[0]) < request.since and each[0] not in unfinished]
        earlier = [source for each in before if (source := maker.source(*each)) is not None]
    return BackfillPlan(request, store, _works(request, store, sources, earlier), earlier, remarks)


def _replay_plan(request: BackfillRequest, store: Store) -> BackfillPlan:
    base = request.evaluation()
    check_places(base)
    yardstick = yardstick_of(request.scoring(), base)
    repository = Repository(Path(request.skills_repo or ""))
    found = repository.tags(request.since, request.until) if request.every == "tag" else _last_of_each(repository, request)
    if not found:
        what = "commit with a tag" if request.every == "tag" else "commit"
        raise UsageError(f"no {what} of {repository.path} lies in this time")
    if not any(repository.holds(each.commit, request.skills_path) for each in found):
        raise UsageError(f"--skills-path {request.skills_path}: no revision of {repository.path} in this time has it")
    options = {"runs": base.runs, "timeoutMs": base.timeout_ms, "expectation": yardstick.expectation, "path": request.skills_path}
    sources = [Source(each.commit, each.moment, digest_of_json({"commit": each.commit, **options})) for each in found]
    grouped = [(_period(request.every, source.moment, each.tag), [source]) for source, each in zip(sources, found, strict=True)]
    remarks = []
    if repository.is_shallow:
        remarks.append(f"{repository.path} is a shallow repository: revisions that it does not hold are left out")
    return BackfillPlan(request, store, _digested(request, store, grouped, []), remarks=remarks, yardstick=yardstick)


class _SourceMaker:
    """Makes the sources of stored runs; what cannot be one is left out with a remark."""

    def __init__(self, request: BackfillRequest, store: Store) -> None:
        self.remarks: list[str] = []
        self._request, self._store = request, store
        self._yardsticks: dict[str, Yardstick | UserError] = {}
        self._wanted = self._benchmark_id()

    def source(self, run_id: str, manifest: Manifest | None) -> Source | None:
        """The source of one run, or None."""
        benchmark = manifest.benchmark.id if manifest else ""
        if self._wanted is not None and benchmark != self._wanted:
            self.remarks.append(f"runs of other benchmarks than {self._wanted} are left out")
            return None
        try:
            digest = self._rescored(run_id, manifest) if self._request.mode == "rescore" else self._recomputed(run_id, manifest)
        except UserError as error:
            self.remarks.append(f"run {run_id} is left out: {error}")
            return None
        skills = frozenset(skill.key for skill in manifest.skills) if manifest else frozenset()
        return Source(run_id, started_at(run_id), digest, skills, benchmark)

    def _benchmark_id(self) -> str | None:
        if self._request.benchmark is None and self._request.tasks is None:
            return None
        return yardstick_of(self._request.scoring(), EvaluateRequest()).benchmark.id

    def _recomputed(self, run_id: str, manifest: Manifest | None) -> str:
        benchmark = todays_benchmark(recorded_request(manifest), self._request.scoring())
        content = {
            "items": self._store.tables.digest("items", run_id),
            "benchmark": digest_of_json(benchmark.to_json()) if benchmark else None,
            "version": version("eval-skills"),
        }
        return digest_of_json(content)

    def _rescored(self, run_id: str, manifest: Manifest | None) -> str:
        then = recorded_request(manifest)
        if then is None and self._wanted is None:
            raise InputError("its manifest cannot be read; say what judges its answers with --benchmark")
        return rescoring_digest(self._store, run_id, self._yardstick(then or EvaluateRequest()))

    def _yardstick(self, then: EvaluateRequest) -> Yardstick:
        names = {"benchmark", "tasks", "benchmarks_dir", "evaluator", "weights", "tool_categories", "tool_names"}
        key = json.dumps(then.model_dump(mode="json", include=names), sort_keys=True)
        if key not in self._yardsticks:
            try:
                self._yardsticks[key] = yardstick_of(self._request.scoring(), then)
            except UserError as error:
                self._yardsticks[key] = error
        found = self._yardsticks[key]
        if isinstance(found, UserError):
            raise found
        return found


def _works(request: BackfillRequest, store: Store, sources: Sequence[Source], earlier: Sequence[Source]) -> list[PeriodWork]:
    grouped: dict[str, tuple[Period, list[Source]]] = {}
    for source in sources:
        period = _period(request.every, source.moment, source.name)
        grouped.setdefault(period.name, (period, []))[1].append(source)
    return _digested(request, store, list(grouped.values()), earlier)


def _digested(
    request: BackfillRequest, store: Store, grouped: Sequence[tuple[Period, list[Source]]], earlier: Sequence[Source]
) -> list[PeriodWork]:
    known = set(store.tables.dataset("comparisons").to_table(columns=["digest"])["digest"].to_pylist())
    works: list[PeriodWork] = []
    past: list[Sequence[Source]] = [[source] for source in earlier]
    for period, sources in grouped:
        content = {
            "mode": request.mode,
            "every": request.every,
            "period": period.name,
            "sources": [source.digest for source in sources],
            "before": _digests_before(sources, past),
        }
        digest = digest_of_json(content)
        works.append(PeriodWork(period, tuple(sources), digest, landed=digest in known))
        past.append(sources)
    return works


def _digests_before(sources: Sequence[Source], past: Sequence[Sequence[Source]]) -> list[str]:
    """The digests of what the sources are compared with: for each skill and benchmark, the last period in which it ran."""
    if not any(source.skills for source in sources):
        return [source.digest for source in past[-1]] if past else []
    found: dict[tuple[str, str], list[str]] = {}
    wanted = _pairs(sources)
    for group in reversed(past):
        for pair in wanted - found.keys():
            digests = [source.digest for source in group if pair in _pairs([source])]
            if digests:
                found[pair] = digests
        if wanted <= found.keys():
            break
    return sorted({digest for digests in found.values() for digest in digests})


def _pairs(sources: Iterable[Source]) -> set[tuple[str, str]]:
    return {(key.partition("@")[0], source.benchmark) for source in sources for key in source.skills}


def _last_of_each(repository: Repository, request: BackfillRequest) -> list[Revision]:
    commits = repository.commits(request.since, request.until)
    return list({_period(request.every, each.moment, None).name: each for each in commits}.values())


def _period(every: Every, moment: datetime, name: str | None) -> Period:
    return period_of(moment, every) if every in ("day", "week") else moment_period(moment, name or "")


def _is_inside(moment: datetime, since: datetime | None, until: datetime | None) -> bool:
    # a run id knows the second only
    return (since is None or moment >= since.astimezone(UTC).replace(microsecond=0)) and (until is None or moment < until)


def _span(run_ids: Sequence[str]) -> str:
    if not run_ids:
        return "no finished run"
    first, last = started_at(run_ids[0]), started_at(run_ids[-1])
    return f"{plural(len(run_ids), 'run')} from {first:%Y-%m-%d} to {last:%Y-%m-%d}"
