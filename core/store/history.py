"""The runs of a store in review: how far each got, how well, and how often its tasks passed and failed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from eval_skills.core.errors import InputError, RunError, UsageError
from eval_skills.core.store.effects import EFFECT_COLUMNS, EffectPoint, effects_in
from eval_skills.core.store.missing import name_missing, without_reports
from eval_skills.core.store.store import COMPLETION, is_own, known_completion
from eval_skills.core.text import skill_key_of

if TYPE_CHECKING:
    from eval_skills.core.metrics.tasks import Tally
    from eval_skills.core.store.store import Store

_JUDGING = ("judge_tokens", "judge_cost_usd", "unjudged_items")
_REPORT_COLUMNS = (
    "run_id", "skill_id", "skill_version", "benchmark_id", "benchmark_version", "items", "origin", *COMPLETION,
    *_JUDGING, *EFFECT_COLUMNS,
)  # fmt: skip

_Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PastJudging:
    """What judging one skill (``id@version``) took in a run; None is unknown. `unjudged_items` are those the judge failed at."""

    skill: str
    judge_tokens: int | None
    judge_cost_usd: float | None
    unjudged_items: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PastExperiment:
    """That the skills of a run were the `arms` of an experiment with the Agent Skills `names`, and what it found, if it ended."""

    names: list[str]
    arms: list[str]
    found: list[EffectPoint]


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """One run. `state` is ``finished`` or ``unfinished``; `origin` is ``run``, or that of later work on another run.

    `items` is how many have a result: landed ones, and of an unfinished run those in its journal; None: that is damaged.
    `benchmark` and `planned_items` are None where neither manifest nor reports know them. `best_completion`, in [0, 1], is that
    of its best skill; None where the run has no report, or none of its items a verdict. `judging` is that of its skills about
    which a model was asked. `lacks_reports`: its items have landed and its reports are not there.
    `experiment` is None where its skills are not the arms of one. `stopped` names the limit of the run that left items of it,
    as ``cost limit``; None where none did.
    """

    run_id: str
    started_at: datetime
    state: str
    benchmark: str | None
    skills: list[str] = field(default_factory=list)
    items: int | None
    planned_items: int | None
    best_completion: float | None
    origin: str = "run"
    judging: list[PastJudging] = field(default_factory=list)
    experiment: PastExperiment | None = None
    stopped: str | None = None
    lacks_reports: bool = False


def past_runs(
    store: Store,
    *,
    limit: int | None = None,
    skill: str | None = None,
    benchmark: str | None = None,
    every_origin: bool = False,
) -> list[PastRun]:
    """The runs of the store, youngest first.

    `skill` and `benchmark` keep the runs that had it, by ``id`` (every version of it) or ``id@version``; None keeps all. Runs
    that are later work on others (scored again, confirming, monitoring) are left out unless `every_origin`. What is not shown is
    not read, except for the manifests that must be read to find that many runs. Runs with damaged files are listed, too, without
    what these held; the files are named (`Tables.tell`).

    Raises:
        UsageError: `limit` is below 1.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"the limit must be 1 or more; got {limit}")
    kept: list[_Row] = []
    reports: dict[str, list[_Row]] | None = None
    for row in store.run_rows():
        if row["skills"] is None:  # its manifest is gone, or on another machine
            reports = _reports_by_run(store) if reports is None else reports
            _identify(row, reports.get(row["run_id"], []))
        if _is_wanted(row, skill, benchmark, every_origin=every_origin):
            kept.append(row)
        if len(kept) == limit:
            break
    name_missing(store, "items", "reports")
    run_ids = [row["run_id"] for row in kept]
    store.tables.name_to_come(run_ids)
    reports = _reports_by_run(store, run_ids) if reports is None else reports
    landed = store.tables.landed_rows(run_ids)
    lacking = {run_id for run_id, _ in without_reports(store)}
    return [_past_run(store, row, reports.get(row["run_id"], []), landed, lacking) for row in kept]


def is_meant(name: str | None, keys: Iterable[str | None]) -> bool:
    """Whether one of the keys (``id@version``) is what `name` (an id, or a key) means; None means all."""
    return name is None or any(key is not None and name in (key, key.partition("@")[0]) for key in keys)


def _is_wanted(row: _Row, skill: str | None, benchmark: str | None, *, every_origin: bool) -> bool:
    wanted = every_origin or is_own(row["origin"])
    return wanted and is_meant(skill, row["skills"]) and is_meant(benchmark, [row["benchmark"]])


def _reports_by_run(store: Store, run_ids: Collection[str] | None = None) -> dict[str, list[_Row]]:
    found: dict[str, list[_Row]] = {}
    try:
        rows = store.tables.rows("reports", _REPORT_COLUMNS, run_ids)
    except InputError as error:  # all are damaged, and the runs are still known
        for path in store.tables.files("reports", run_ids).values():
            store.tables.name_damaged(path, error)
        rows = []
    for row in rows:
        if row["origin"] != "recompute":  # figures of this run that were made later, from the same items
            found.setdefault(row["run_id"], []).append(row)
    return found


def _identify(row: _Row, reports: list[_Row]) -> None:
    """What the reports know of a run: they lie beside the items, where a manifest may be on another machine."""
    row["skills"] = sorted(skill_key_of(report) for report in reports)
    if reports:
        parts = (reports[0]["benchmark_id"], reports[0]["benchmark_version"])
        row["benchmark"] = "@".join(part for part in parts if part)
        row["origin"] = reports[0]["origin"]


def _past_run(
    store: Store, row: _Row, reports: list[_Row], landed: Mapping[str, int | None], lacking: Collection[str]
) -> PastRun:
    names = ("run_id", "started_at", "state", "benchmark", "skills", "planned_items", "stopped")
    return PastRun(
        **{name: row[name] for name in names},
        origin=row["origin"] or "run",
        items=_items(store, row, reports, landed),
        best_completion=max((rate for report in reports if (rate := known_completion(report)) is not None), default=None),
        judging=[_judging(report) for report in reports if any(report[name] is not None for name in _JUDGING)],
        experiment=_experiment(row["experiment"], reports),
        lacks_reports=row["run_id"] in lacking,
    )


def _experiment(known: Any, reports: list[_Row]) -> PastExperiment | None:
    """From the manifest where there is one, for an unfinished run has no reports; else from these."""
    found, arms = effects_in(reports), [report for report in reports if report["effect_arm"] is not None]
    if isinstance(known, dict) and isinstance(known.get("names"), list) and isinstance(known.get("arms"), dict):
        return PastExperiment(names=[str(name) for name in known["names"]], arms=[str(arm) for arm in known["arms"]], found=found)
    if not arms:
        return None
    return PastExperiment(names=[arms[0]["effect_of"]], arms=[report["effect_arm"] for report in arms], found=found)


def _judging(report: _Row) -> PastJudging:
    skill = skill_key_of(report)
    return PastJudging(skill=skill, **{name: report[name] for name in _JUDGING})


def _items(store: Store, row: _Row, reports: list[_Row], landed: Mapping[str, int | None]) -> int | None:
    if row["state"] == "unfinished":
        return known_items(store, row["run_id"])
    # items may have been cleared away or damaged, and then the reports still say how many there were
    reported = sum(report["items"] or 0 for report in reports) if reports else None
    return reported if (known := landed.get(row["run_id"])) is None else known


def known_items(store: Store, run_id: str) -> int | None:
    """How many items of an unfinished run are done; None where a damaged file hides it."""
    from eval_skills.core.store.landing import run_batches

    try:
        return sum(int(batch.num_rows) for batch in run_batches(store, run_id))
    except (RunError, InputError):  # one damaged file does not hide the other runs; resuming it says what is wrong
        return None


_KEY = [
    "skill_id", "skill_version", "task_id", "task_digest", "scoring_digest", "skill_digest", "benchmark_version",
    "benchmark_digest",
]  # fmt: skip
_COLUMNS = [*_KEY, "passed", "status", "error_kind"]


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """How a skill did on a task, as both were, in one run; items of `MISSING_KINDS` have no verdict."""

    run_id: str
    skill_id: str
    skill_version: str
    task_id: str
    task_digest: str | None
    scoring_digest: str | None
    skill_digest: str | None
    benchmark_version: str | None
    benchmark_digest: str | None
    tally: Tally


def task_outcomes(store: Store, run_ids: Iterable[str]) -> list[TaskOutcome]:
    """The outcomes of these runs, in the order of the runs; a run without items (any more) has none."""
    found: list[TaskOutcome] = []
    for run_id, path in store.tables.sound_files("items", set(run_ids)).items():
        try:
            with pq.ParquetFile(path, page_checksum_verification=True) as file:
                known = [name for name in _COLUMNS if name in file.schema_arrow.names]  # earlier versions wrote fewer
                table = file.read(columns=known)
        except FileNotFoundError:  # another process has just pruned it
            continue
        found += _outcomes(run_id, table)
    return found


def _outcomes(run_id: str, table: pa.Table) -> Iterable[TaskOutcome]:
    from eval_skills.core.metrics.tasks import Tally
    from eval_skills.core.models.report import MISSING_KINDS

    groups = table.group_by(table.column_names).aggregate([([], "count_all")]).to_pylist()
    tallies: dict[tuple[Any, ...], Tally] = {}
    for row in groups:
        key, count = tuple(row.get(name) for name in _KEY), row["count_all"]
        missing = row["status"] == "error" and row["error_kind"] in MISSING_KINDS
        counted = Tally(missing=count) if missing else Tally(passed=count) if row["passed"] else Tally(failed=count)
        tallies[key] = tallies.get(key, Tally()) + counted
    return [TaskOutcome(run_id=run_id, tally=tally, **dict(zip(_KEY, key, strict=True))) for key, tally in tallies.items()]
