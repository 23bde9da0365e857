"""What a store says of the last runs, nights and monitors, for Prometheus to scrape.

Every figure is read from the store: the runs of ``serve`` are processes of their own, and what they leave there is all that
anybody knows of them. What did not change since the last scrape is not read again.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import GaugeMetricFamily, Metric

from eval_skills.core.errors import EvalSkillsError, UsageError
from eval_skills.core.store import Store, started_at
from eval_skills.core.store.store import COMPLETION, is_primary, known_completion
from eval_skills.engine.monitor.state import MonitorState, read_state

if TYPE_CHECKING:
    from datetime import datetime

QUANTILES = {"0.5": "p50_ms", "0.95": "p95_ms", "0.99": "p99_ms"}
_COUNTS = {"pass": "passed_items", "fail": "failed_items", "error": "error_items", "timeout": "timeout_items"}
_REPORT = (
    "run_id", "skill_id", "skill_version", "benchmark_id", "origin", *COMPLETION,
    *QUANTILES.values(), *_COUNTS.values(),
)  # fmt: skip
_NIGHT = ("night_id", "finished_at", "suite", "skill_id", "skill_version", "verdict", "good", "completion_rate")
_SKILL = ("benchmark", "skill", "version")
HEALTH = ("healthy", "warning", "critical", "insufficient_data")
BATCHES_READ = 50
"""So many of the youngest batches of samples are looked through for those of the windows."""

Row = dict[str, Any]


@contextmanager
def metrics_served(store: str, *, host: str, port: int, tell: Callable[[str], object]) -> Iterator[str]:
    """Serve the figures of `store` inside; the address. `tell` is called with what of the store cannot be read, each once.

    Raises:
        UsageError: nothing can listen there.
    """
    registry = CollectorRegistry()
    registry.register(StoreCollector(store, tell))
    try:
        server, thread = start_http_server(port, host, registry)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"--metrics-port {port}: nothing can listen at {host}:{port} ({reason}); give another port") from None
    try:
        shown = f"[{host}]" if ":" in host else host
        yield f"http://{shown}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class StoreCollector:
    """The metrics of a store, made anew where its files changed."""

    def __init__(self, path: str, tell: Callable[[str], object] = lambda line: None) -> None:
        self._path, self._tell, self._lock = path, tell, Lock()
        self._store: Store | None = None
        self._seen: object = None
        self._known: list[Metric] = []
        self._told = ""

    def describe(self) -> Iterable[Metric]:
        """Nothing: the registry asks before there may be a store."""
        return []

    def collect(self) -> Iterable[Metric]:
        """All metrics; where the store cannot be read, that alone."""
        readable = GaugeMetricFamily("eval_skills_store_readable", "1 where the store could be read, else 0")
        with self._lock:
            try:
                found = self._metrics()
            except (EvalSkillsError, OSError) as error:
                if str(error) != self._told:
                    self._told = str(error)
                    self._tell(f"metrics: the store cannot be read: {error}")
                found = []
                readable.add_metric([], 0)
            else:
                readable.add_metric([], 1)
        return [readable, *found]

    def _metrics(self) -> list[Metric]:
        if self._store is None:
            self._store = Store(self._path)
            self._store.tables.tell = self._tell
        self._store.refresh()
        store, files = self._store, _monitor_files(self._store)
        seen = (
            *(tuple(store.tables.states(name).items()) for name in ("reports", "nights", "samples")),
            tuple((file, file.stat().st_mtime_ns) for file in files),
        )
        if seen != self._seen:
            self._known = [*_of_runs(store), *_of_nights(store), *_of_monitors(store, files)]
            self._seen = seen
        return self._known


def _of_runs(store: Store) -> Iterator[Metric]:
    """Of each skill on each benchmark its last whole run, and in that all its versions that ran side by side."""
    rows = [row for row in store.tables.rows("reports", _REPORT) if is_primary(row["origin"])]
    runs = {(row["benchmark_id"], row["skill_id"]): row["run_id"] for row in rows}  # rows come in the order of their runs
    last = [row for row in rows if row["run_id"] == runs[row["benchmark_id"], row["skill_id"]]]
    kinds = _error_kinds(store, set(runs.values()))
    completion = GaugeMetricFamily("eval_skills_completion_ratio", "Completion rate of the last run, from 0 to 1", labels=_SKILL)
    items = GaugeMetricFamily("eval_skills_items", "Items of the last run, by how they ended", labels=(*_SKILL, "status"))
    errors = GaugeMetricFamily("eval_skills_errors", "Items of the last run that ended in an error", labels=(*_SKILL, "kind"))
    latency = GaugeMetricFamily("eval_skills_latency_seconds", "Latency in the last run", labels=(*_SKILL, "quantile"))
    moment = GaugeMetricFamily("eval_skills_run_timestamp_seconds", "When the last whole run began", labels=("benchmark",))
    for row in sorted(last, key=itemgetter("benchmark_id", "skill_id", "skill_version")):
        names = [row["benchmark_id"], row["skill_id"], row["skill_version"]]
        _add(completion, names, known_completion(row))
        for status, column in _COUNTS.items():
            _add(items, [*names, status], row[column])
        for kind, count in sorted(kinds[row["run_id"], row["skill_id"], row["skill_version"]].items()):
            _add(errors, [*names, kind], count)
        for quantile, column in QUANTILES.items():
            _add(latency, [*names, quantile], None if row[column] is None else row[column] / 1000)
    moments = {row["benchmark_id"]: _seconds(started_at(row["run_id"])) for row in rows}
    for benchmark, seconds in sorted(moments.items()):
        _add(moment, [benchmark], seconds)
    yield from (completion, items, errors, latency, moment)
    yield _success("run", max(moments.values(), default=None))


def _error_kinds(store: Store, run_ids: set[str]) -> Mapping[tuple[str, str, str], Counter[str]]:
    """How many items each kind of error ended; none of a run whose items were pruned."""
    counts: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    columns = ("run_id", "skill_id", "skill_version", "error_kind")
    for row in store.tables.rows("items", columns, run_ids) if run_ids else ():
        if row["error_kind"] is not None:
            counts[row["run_id"], row["skill_id"], row["skill_version"]][row["error_kind"]] += 1
    return counts


def _of_nights(store: Store) -> Iterator[Metric]:
    """Of each suite its last night."""
    rows = store.tables.rows("nights", _NIGHT)
    newest = {row["suite"]: row["night_id"] for row in rows}
    of_skill = ("suite", "skill", "version", "verdict")
    verdict = GaugeMetricFamily("eval_skills_night_verdict", "1 for the verdict on each skill in the last night", labels=of_skill)
    good = GaugeMetricFamily("eval_skills_night_good", "1 where every skill of the suite had a good night", labels=("suite",))
    moment = GaugeMetricFamily("eval_skills_night_timestamp_seconds", "When the last night ended", labels=("suite",))
    for suite, night in sorted(newest.items()):
        of_suite = [row for row in rows if (row["suite"], row["night_id"]) == (suite, night)]
        for row in of_suite:
            _add(verdict, [suite, row["skill_id"] or "", row["skill_version"] or "", row["verdict"]], 1)
        _add(good, [suite], int(all(row["good"] for row in of_suite)))
        _add(moment, [suite], max(_seconds(row["finished_at"]) for row in of_suite))
    yield from (verdict, good, moment)
    nights: dict[str, list[Row]] = {}
    for row in rows:
        nights.setdefault(row["night_id"], []).append(row)
    ends = [_seconds(night[0]["finished_at"]) for night in nights.values() if all(row["good"] for row in night)]
    yield _success("night", max(ends, default=None))


def _monitor_files(store: Store) -> list[Path]:
    return sorted(store.layout.root.glob("monitors/*/position.json"))


def _of_monitors(store: Store, files: list[Path]) -> Iterator[Metric]:
    """Of each monitor its window, as it was saved after the last batch."""
    labels = ("monitor", "log")
    status = GaugeMetricFamily("eval_skills_monitor_status", "1 for the status that was announced", labels=(*labels, "status"))
    samples = GaugeMetricFamily("eval_skills_monitor_samples", "Samples in the window, by result", labels=(*labels, "result"))
    ratio = GaugeMetricFamily("eval_skills_monitor_pass_ratio", "Share of the window that passed", labels=labels)
    latency = GaugeMetricFamily("eval_skills_monitor_latency_seconds", "Latency in the window", labels=(*labels, "quantile"))
    moment = GaugeMetricFamily("eval_skills_monitor_timestamp_seconds", "When a sample was last judged", labels=labels)
    latencies = _sampled_latencies(store) if files else {}
    moments = []
    for file in files:
        if (state := read_state(file)) is None:
            continue
        names = [state.monitor_id, Path(state.log).name]
        for each in HEALTH:
            _add(status, [*names, each], int(state.announced == each))
        for result, count in _results(state).items():
            _add(samples, [*names, result], count)
        passed, size = sum(each.passed for each in state.window), len(state.window)
        _add(ratio, names, passed / size if size else None)
        known = _latencies_in(state, latencies)
        for quantile in QUANTILES:
            _add(latency, [*names, quantile], _nearest_rank(known, float(quantile)))
        if (judged := _last_judged(state, file)) is not None:
            moments.append(judged)
            _add(moment, names, judged)
    yield from (status, samples, ratio, latency, moment)
    yield _success("monitor", max(moments, default=None))


def _last_judged(state: MonitorState, file: Path) -> float | None:
    """When a sample was last judged, as a Unix time; of a state of an earlier version, when that was last written."""
    if state.judged_at is None:
        return file.stat().st_mtime if state.window else None
    return _seconds(state.judged_at)


def _results(state: MonitorState) -> dict[str, int]:
    errors = sum(each.error for each in state.window)
    passed = sum(each.passed for each in state.window)
    return {"pass": passed, "fail": len(state.window) - passed - errors, "error": errors}


Latencies = Mapping[tuple[str, str], list[float | None]]
"""Of each monitor and id of an interaction, oldest first: an id may name several interactions."""


def _sampled_latencies(store: Store) -> Latencies:
    batches = list(store.tables.files("samples"))[-BATCHES_READ:]
    found = defaultdict(list)
    for row in store.tables.rows("samples", ("monitor_id", "interaction_id", "latency_ms"), batches) if batches else []:
        found[row["monitor_id"], row["interaction_id"]].append(row["latency_ms"])
    return found


def _latencies_in(state: MonitorState, latencies: Latencies) -> list[float]:
    """The known ones of the window, which holds the last samples, also of those that share an id."""
    counts = Counter(each.id for each in state.window)
    last = (ms for id_, count in counts.items() for ms in latencies.get((state.monitor_id, id_), [])[-count:])
    return [ms for ms in last if ms is not None]


def _nearest_rank(milliseconds: list[float], quantile: float) -> float | None:
    """In seconds; None of nothing."""
    return sorted(milliseconds)[math.ceil(quantile * len(milliseconds)) - 1] / 1000 if milliseconds else None


def _success(what: str, seconds: float | None) -> Metric:
    """When one of these last went well: a run was whole, all of a night was good, a batch was judged."""
    family = GaugeMetricFamily(f"eval_skills_{what}_last_success_timestamp_seconds", f"When a {what} last succeeded")
    _add(family, [], seconds)
    return family


def _add(family: GaugeMetricFamily, labels: list[str], value: float | None) -> None:
    """What is not known has no series: a 0 would be a figure."""
    if value is not None:
        family.add_metric(labels, value)


def _seconds(moment: datetime) -> float:
    return moment.timestamp()
