"""The plan of a night: its suites, each with its history in the store (good nights, nights since, what regressed)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from eval_skills.core.errors import UsageError
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.nightly.evidence import BAD, POOLED, WATCHED, LostEvidence
from eval_skills.core.store import Manifest, Store, begins_run_id, is_run_id, new_run_id
from eval_skills.core.store.effects import EffectPoint, effect_points
from eval_skills.core.store.files import RunLock
from eval_skills.engine.definition.request import EvaluateRequest, check_writable
from eval_skills.engine.evaluation.resume import wait_for_writer, wait_until_free
from eval_skills.engine.nightly.request import NightlyRequest, Suite, load_suites
from eval_skills.engine.skill_effect.experiment import arms_folder
from eval_skills.engine.stored_runs.run_ids import LATEST, named_run, names_run, only_one
from eval_skills.reporting.stopping import resume_night_words

FLOW_RUN = "flowRun"
"""Where the provenance of a night's runs has the flow run of the night."""


@dataclass(frozen=True, slots=True)
class NightPlan:
    """A night before it starts. `histories` are those of `suites`, in the same order; `begun` are its runs if it is resumed.

    `flow_run_id` is Prefect's flow run of the night; None without one.
    """

    night_id: str
    request: NightlyRequest
    store: Store
    suites: list[Suite]
    histories: list[SuiteHistory]
    begun: BegunRuns = field(default_factory=lambda: BegunRuns())
    flow_run_id: str | None = None

    @property
    def baseline(self) -> str | None:
        """The baseline of the suites that name none."""
        return self.request.baseline

    def pinned(self) -> set[str]:
        """The runs that are baselines."""
        return {name for name in (self.baseline, *(suite.baseline for suite in self.suites)) if name and is_run_id(name)}

    def evaluation(self, suite: Suite) -> EvaluateRequest:
        """Tonight's run of the suite, or the rest of the one that has begun; of an effect, its arms are written.

        Raises:
            UserError: an effect has no tasks, or what it names is not there.
        """
        resumed = resuming(self.begun.suites.get(suite.name))
        about = resumed or {"provenance": self._provenance(suite)}
        request = suite.request(self.request.options, store=self.store.path, **about)
        if suite.skill_effect is None or resumed:
            return request
        with arms_folder(self.store.path) as root:
            return suite.skill_effect.experiment(request, root)[0]

    def confirmation(self, suite: Suite, run_id: str, report: SkillCompletionReport, tasks: list[str]) -> EvaluateRequest:
        """Fresh runs of these tasks by one skill.

        The skill is the one of the run's manifest; without a path there, it is one of the suite's skills.
        """
        manifest = self.store.find_manifest(run_id)
        paths = [skill.path for skill in (manifest.skills if manifest else []) if skill.key == report.skill_key and skill.path]
        tasks_of = {"tasks": manifest.request.get("tasks")} if manifest and suite.skill_effect else {}
        return suite.request(
            self.request.options,
            **(
                resuming(self.begun.confirmations.get((run_id, report.skill_key, tuple(tasks))))
                or {"provenance": self._provenance(suite) | {"of": run_id}}
            ),
            **tasks_of,
            store=self.store.path,
            skills=paths or suite.skills,
            task_ids=tasks,
            runs=self.request.confirm_runs,
            format=[],
            origin="confirm",
        )

    def going_on(self) -> str | None:
        """How the night goes on if it ends now; None where it has begun no run, and so there is nothing to go on with."""
        runs = _manifests(self.store, since=self.night_id)
        if not any(manifest.provenance.get("night") == self.night_id for _, manifest in runs):
            return None
        command = resume_night_words(self.night_id, self._file, self.store.path)
        return f"what is there is kept, so continue with: {command}"

    @property
    def _file(self) -> str:
        return str(Path(self.request.suites).resolve())

    def _provenance(self, suite: Suite) -> dict[str, str]:
        of_a_flow_run = {} if self.flow_run_id is None else {FLOW_RUN: self.flow_run_id}
        return {"suite": suite.name, "suites": self._file, "night": self.night_id, **of_a_flow_run}


@dataclass(frozen=True, slots=True)
class BegunRuns:
    """The runs of an interrupted night: by suite, and fresh ones by the run that they confirm, the skill and the tasks."""

    suites: dict[str, str] = field(default_factory=dict)
    confirmations: dict[tuple[str, str, tuple[str, ...]], str] = field(default_factory=dict)


def resuming(run_id: str | None) -> dict[str, Any]:
    """The option of a request that takes up this run, whose manifest says the rest; none where there is none."""
    return {} if run_id is None else {"resume": run_id}


@dataclass(frozen=True, slots=True)
class SuitesAsked:
    """The file of suites that a night is continued with, and their names."""

    file: str
    names: Collection[str]

    def refused(self, store: Store, night_id: str) -> UsageError | None:
        """Why a night cannot be continued with them; None where it can, also where the file was moved, or its suites renamed.

        It would be recorded without a suite of its own, and what these had finished would be lost.
        """
        runs = (manifest.provenance for _, manifest in _manifests(store, since=night_id))
        own = [about for about in runs if about.get("night") == night_id]
        theirs = {about.get("suites", self.file) for about in own if about["suite"] not in self.names} - {self.file}
        if not theirs:
            return None
        file = min(theirs)
        again = resume_night_words(night_id, file, store.path)
        return UsageError(f"night {night_id} is of the suites of {file}, not of {self.file}; continue with: {again}")


def interrupted_night(store: Store, wanted: str, asked: SuitesAsked) -> str:
    """The id of the night that `wanted` names: it, the run id of one of its suites, the beginning of one of them, or `latest`,
    the youngest of all of these suites that ended before they were recorded.

    Raises:
        UsageError: there is none, several begin like that, it has been recorded, or it is of other suites.
    """
    recorded = store.tables.files("nights").keys()
    nights = (night for _, manifest in _manifests(store) if (night := manifest.provenance.get("night")) not in {None, *recorded})
    if wanted == LATEST:
        refused = None
        for night in nights:
            if (of_others := asked.refused(store, str(night))) is None:
                return str(night)
            refused = refused or of_others
        raise refused or UsageError(f"no night in {store.path} was interrupted; start one without --resume")
    night = _night_named(store, wanted, recorded)
    if night in recorded:
        raise _recorded(night)
    if night not in nights:
        raise UsageError(
            f"--resume {wanted}: no run in {store.path} belongs to such a night; name a night, one of its runs, or latest"
        )
    if (refused := asked.refused(store, night)) is not None:
        raise refused
    return night


def _night_named(store: Store, wanted: str, recorded: Collection[str]) -> str:
    if is_run_id(wanted):
        manifest = store.find_manifest(wanted)
        return str(manifest.provenance.get("night", wanted)) if manifest else wanted
    every = {each: night for run_id, night in _nights_of_runs(store).items() for each in (run_id, night)}
    interrupted = {each: night for each, night in every.items() if night not in recorded}
    for known in (interrupted, every):
        nights = {night for each, night in known.items() if begins_run_id(wanted) and each.startswith(wanted)}
        if len(nights) == 1:
            return nights.pop()
    return every[only_one(wanted, interrupted, f"the interrupted nights of {store.path}")]


def _nights_of_runs(store: Store) -> dict[str, str]:
    return {
        run_id: str(night) for run_id, manifest in _manifests(store) if (night := manifest.provenance.get("night")) is not None
    }


def night_lock(store: Store, night_id: str) -> RunLock:
    """The right to work at this night, for one process at a time.

    Raises:
        UsageError: another process has it; the message names it.
    """
    return RunLock(store.layout.root / f"night-{night_id}", what=f"night {night_id}", mode=store.layout.mode)


@contextmanager
def held(night: NightPlan) -> Iterator[None]:
    """No other process goes on with the night inside: it would take a run that is being written here for one that failed, and
    announce what is announced here.

    Raises:
        UsageError: another process goes on with it, or has recorded it since it was planned.
    """
    with night_lock(night.store, night.night_id):
        if night.night_id in night.store.tables.files("nights"):
            raise _recorded(night.night_id)
        yield


def _recorded(night_id: str) -> UsageError:
    return UsageError(f"night {night_id} is finished and recorded; start another one without --resume")


def night_begun_by(flow_run_id: str, store: Store, since: datetime) -> str | None:
    """The night that this flow run began in an earlier process and did not finish; returns when that has let go of its runs."""
    runs = [(run_id, manifest.provenance) for run_id, manifest in _manifests(store, since=new_run_id(since))]
    own = [(run_id, about["night"]) for run_id, about in runs if about.get(FLOW_RUN) == flow_run_id]
    for run_id, night in own:
        wait_for_writer(store, run_id)
        wait_until_free(partial(night_lock, store, night))
    recorded = store.tables.files("nights").keys()
    return next((str(night) for _, night in own if night not in recorded), None)


def begun_runs(store: Store, night_id: str) -> BegunRuns:
    """The runs that this night has begun.

    Raises:
        UsageError: another process goes on with it, or one of them is still being written.
    """
    night_lock(store, night_id).release()
    begun = BegunRuns()
    for run_id, manifest in _manifests(store, since=night_id):
        about = manifest.provenance
        if about.get("night") != night_id:
            continue
        RunLock(store.journal_path(run_id)).release()
        if (of := about.get("of")) is None:
            begun.suites.setdefault(about["suite"], run_id)
            continue
        for skill in manifest.skills:
            begun.confirmations.setdefault((of, skill.key, tuple(manifest.request.get("taskIds", ()))), run_id)
    return begun


def _manifests(store: Store, since: str = "") -> Iterator[tuple[str, Manifest]]:
    """Of the runs from this second on, the youngest first."""
    for run_id in reversed(store.run_ids()):
        if run_id[:SECOND] < since[:SECOND]:
            return
        if (manifest := store.find_manifest(run_id)) is not None:
            yield run_id, manifest


SECOND = len("20261121T233824Z")
"""As much of a run id is the moment that it began; the rest is random."""


def plan_night(request: NightlyRequest, flow_run_id: str | None = None, since: datetime | None = None) -> NightPlan:
    """The plan of a night that starts now, or of the rest of one that was interrupted; nothing is written.

    The rest is planned, too, of a night that the flow run `flow_run_id`, made after `since`, began in an earlier process.

    Raises:
        UserError: the file of suites cannot be used, or the store cannot be written to. An error in a single suite is found when
            it runs, and does not stop the others.
    """
    store = Store(request.store if "://" in request.store else str(Path(request.store).resolve()))
    request = request.model_copy(update={"baseline": _whole_id(store, request.baseline)})
    suites = [
        suite.model_copy(update={"baseline": _whole_id(store, suite.baseline)}) for suite in load_suites(Path(request.suites))
    ]
    check_writable(EvaluateRequest(store=store.path))
    resumed: str | None = None
    if request.resume:
        asked = SuitesAsked(str(Path(request.suites).resolve()), {suite.name for suite in suites})
        resumed = interrupted_night(store, request.resume, asked)
    elif flow_run_id is not None and since is not None:
        resumed = night_begun_by(flow_run_id, store, since)
    night_id = resumed or new_run_id()
    begun = BegunRuns() if resumed is None else begun_runs(store, resumed)
    histories = [suite_history(store, suite.name, before=night_id) for suite in suites]
    return NightPlan(night_id, request, store, suites, histories, begun, flow_run_id)


def _whole_id(store: Store, baseline: str | None) -> str | None:
    """The baseline, by its whole id where it is the beginning of a run's: what is compared with stays what it is.

    Raises:
        UsageError: it is ``latest``, which by the time of the comparison is a run of the night itself; or no run begins like it.
    """
    if baseline == LATEST:
        raise UsageError(
            "baseline latest: the latest run is one of the night's own; name an earlier run by its id, or a JSON report "
            "(without a baseline the skills are compared with their good nights)"
        )
    is_beginning = baseline is not None and names_run(baseline) and not is_run_id(baseline)
    return named_run(store, baseline) if baseline is not None and is_beginning else baseline


@dataclass(frozen=True, slots=True)
class PastNight:
    """A skill's row of an earlier night whose items are still stored. `judge` is None where no model judged, or it is unknown."""

    night_id: str
    run_id: str
    confirm_run_id: str | None
    skill_id: str
    skill_version: str
    benchmark_id: str | None
    good: bool
    judge: str | None

    @property
    def runs(self) -> set[str]:
        """The runs with its items; fresh runs count where the night was not good."""
        return {self.run_id} if self.good or not self.confirm_run_id else {self.run_id, self.confirm_run_id}


@dataclass(frozen=True, slots=True)
class LastNight:
    """The last night in which a skill was evaluated, and its run then."""

    skill_id: str
    skill_version: str
    night_id: str
    run_id: str

    @property
    def skill_key(self) -> str:
        """``id@version``."""
        return f"{self.skill_id}@{self.skill_version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteHistory:
    """The past nights of a suite's skills, oldest first.

    `lost` is by skill. `points` are the completion rates of every night by ``id@version``, oldest first. `last` are the skills of
    the suite's last night that had any, also those that were gone in it. `effects` are the differences that an Agent Skill made
    in each night, oldest first. `of_others`: the suite has no nights of its own, and these are those of others.
    """

    nights: list[PastNight] = field(default_factory=list)
    lost: dict[str, LostEvidence] = field(default_factory=dict)
    points: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    last: list[LastNight] = field(default_factory=list)
    effects: list[EffectPoint] = field(default_factory=list)
    of_others: bool = False

    def of(self, skill_id: str, version: str | None = None, judge: str | None = None, most: int = WATCHED) -> list[PastNight]:
        """The skill's good nights, at most so many, and those since the last of them; of every version where `version` is None.

        A night with another judge is left out; None is unknown, and goes with all.
        """
        own = [night for night in self.nights if night.skill_id == skill_id and version in (None, night.skill_version)]
        own = [night for night in own if judge is None or night.judge in (None, judge)]
        good = [night for night in own if night.good][-most:]
        return [*good, *(night for night in own if not good or night.night_id > good[-1].night_id)]

    def lost_by(self, report: SkillCompletionReport) -> LostEvidence | None:
        """What the skill lost in an earlier night, also if its version has changed since."""
        return self.lost.get(report.skill_key) or self.lost.get(report.skill_id)

    def needed(self) -> set[str]:
        """The runs that later nights are compared with."""
        skills = {(night.skill_id, version) for night in self.nights for version in (None, night.skill_version)}
        return {run for skill in skills for night in self.of(*skill, most=POOLED) for run in night.runs}


def suite_history(store: Store, suite: str, before: str | None = None) -> SuiteHistory:
    """The suite's history, from the table of nights, or of those `before` a night.

    One that never ran, which may be another one under a new name, has the nights of all suites of the store (`of_others`).
    """
    own = [row for row in _rows(store, suite) if before is None or row["night_id"] < before]
    rows = own or [row for row in _rows(store, None) if before is None or row["night_id"] < before]
    landed = store.tables.files("items")
    nights = [_past_night(row) for row in rows if row["skill_id"] is not None and row["run_id"] in landed]
    if not own:
        return SuiteHistory(nights=nights, of_others=True)
    return SuiteHistory(nights=nights, lost=_lost(rows), points=_points(rows), last=_last(rows), effects=_effects(store, rows))


def _effects(store: Store, rows: Iterable[dict[str, Any]]) -> list[EffectPoint]:
    runs = {row["run_id"]: row["night_id"] for row in rows if row["run_id"] is not None}
    return effect_points(store, runs) if runs else []


def _last(rows: Iterable[dict[str, Any]]) -> list[LastNight]:
    of_skills = [row for row in rows if row["skill_id"] is not None]
    evaluated = {
        (row["skill_id"], row["skill_version"]): (row["night_id"], row["run_id"]) for row in of_skills if row["verdict"] != "gone"
    }
    latest = max((row["night_id"] for row in of_skills), default="")
    skills = sorted({(row["skill_id"], row["skill_version"]) for row in of_skills if row["night_id"] == latest})
    return [LastNight(*skill, *evaluated[skill]) for skill in skills if skill in evaluated]


def _past_night(row: dict[str, Any]) -> PastNight:
    """Whether it was good is read off the verdict: earlier versions wrote that of the suite."""
    names = ("night_id", "run_id", "confirm_run_id", "skill_id", "skill_version", "benchmark_id", "judge")
    return PastNight(**{name: row[name] for name in names}, good=row["verdict"] not in BAD)


def needed_runs(store: Store) -> set[str]:
    """The runs that later nights need, of every suite in the store: the good nights of its skills, those since, its baseline."""
    rows = _rows(store, None)
    needed: set[str] = set()
    for suite in {row["suite"] for row in rows}:
        needed |= suite_history(store, suite).needed()
        needed |= {row["baseline"] for row in [row for row in rows if row["suite"] == suite][-1:] if row["baseline"]}
    return needed


def _rows(store: Store, suite: str | None) -> list[dict[str, Any]]:
    import pyarrow.dataset as ds

    condition = None if suite is None else ds.field("suite") == suite
    return list(store.tables.dataset("nights").to_table(filter=condition).sort_by("night_id").to_pylist())


def _lost(rows: Iterable[dict[str, Any]]) -> dict[str, LostEvidence]:
    lost: dict[str, LostEvidence] = {}
    for row in rows:
        if row["skill_id"] is None or row["verdict"] in ("failed", "gone"):
            continue
        for name in (f"{row['skill_id']}@{row['skill_version']}", row["skill_id"]):
            lost.pop(name, None)
            if row["expected_rate"] is not None:  # regressed, or could not be judged since
                lost[name] = LostEvidence(
                    tasks=row["moved_tasks"],
                    expected_rate=row["expected_rate"],
                    observed_rate=row["observed_rate"],
                    since=row["since_night_id"],
                )
    return lost


def _points(rows: Iterable[dict[str, Any]]) -> dict[str, list[tuple[str, float]]]:
    points: dict[str, list[tuple[str, float]]] = {}
    for row in rows:
        if row["completion_rate"] is not None and row["verdict"] != "failed":
            points.setdefault(f"{row['skill_id']}@{row['skill_version']}", []).append((row["night_id"], row["completion_rate"]))
    return points
