"""Nights that were interrupted: which is meant, what it has begun, and the right to go on with it, for one process at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from eval_skills.core.documents.loading import validate
from eval_skills.core.errors import UsageError
from eval_skills.core.store import Manifest, Store, begins_run_id, is_run_id, new_run_id, started_at
from eval_skills.core.store.files import RunLock, once_free
from eval_skills.core.store.missing import nights_put_aside
from eval_skills.engine.evaluation.resume import wait_for_writer
from eval_skills.engine.nightly.request import NightGate
from eval_skills.engine.stored_runs.run_ids import LATEST, only_one
from eval_skills.reporting.stopping import resume_night_words

ASKED = "asked"
"""Where the provenance of a night's runs has what its caller asked beside the file of suites, the gate included."""

GATE = "gate"
"""Where that has the gate."""

FLOW_RUN = "flowRun"
"""Where the provenance of a night's runs has the flow run of the night."""


@dataclass(frozen=True, slots=True)
class BegunRuns:
    """The runs of an interrupted night: by suite, and fresh ones by the run that they confirm, the skill and the tasks."""

    suites: dict[str, str] = field(default_factory=dict)
    confirmations: dict[tuple[str, str, tuple[str, ...]], str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SuitesAsked:
    """The file of suites that a night is continued with, and their names."""

    file: str
    names: Collection[str]

    def refused(self, store: Store, night_id: str) -> UsageError | None:
        """Why a night cannot be continued with them; None where it can, also where the file was moved, or its suites renamed.

        It would be recorded without a suite of its own, and what these had finished would be lost; or with what another file,
        which is still there, asks under the same names.
        """
        own = [manifest.provenance for _, manifest in _runs_of(store, night_id)]
        files = [about.get("suites", self.file) for about in own if about["suite"] not in self.names or _is_there(about)]
        theirs = set(files) - {self.file}
        if not theirs:
            return None
        file = min(theirs)
        again = resume_night_words(night_id, file, store.path)
        return UsageError(f"night {night_id} is of the suites of {file}, not of {self.file}; continue with: {again}")


def _is_there(about: Mapping[str, Any]) -> bool:
    return "suites" in about and Path(about["suites"]).is_file()


def interrupted_night(store: Store, wanted: str, asked: SuitesAsked) -> str:
    """The id of the night that `wanted` names: it, the run id of one of its suites, the beginning of one of them, or `latest`,
    the youngest of all of these suites that ended before they were recorded.

    Raises:
        UsageError: there is none, several begin like that, it has been recorded, or it is of other suites.
    """
    recorded = recorded_nights(store)
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


def recorded_nights(store: Store) -> Set[str]:
    """The nights whose rows are there, as they were written, or were put aside for their date. One of which they are gone or
    damaged can be recorded again.
    """
    return store.tables.sound_files("nights").keys() | nights_put_aside(store)


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
def held(store: Store, night_id: str) -> Iterator[None]:
    """No other process goes on with the night inside: it would take a run that is being written here for one that failed, and
    announce what is announced here.

    Raises:
        UsageError: another process goes on with it, or has recorded it since it was planned.
    """
    with night_lock(store, night_id):
        if night_id in recorded_nights(store):
            raise _recorded(night_id)
        yield


def _recorded(night_id: str) -> UsageError:
    return UsageError(f"night {night_id} is finished and recorded; start another one without --resume")


def night_begun_by(flow_run_id: str, store: Store, since: datetime) -> str | None:
    """The night that this flow run began in an earlier process and did not finish; returns when that has let go of its runs."""
    runs = [(run_id, manifest.provenance) for run_id, manifest in _manifests(store, since=new_run_id(since))]
    own = [(run_id, about["night"]) for run_id, about in runs if about.get(FLOW_RUN) == flow_run_id]
    for run_id, night in own:
        wait_for_writer(store, run_id)
        once_free(partial(night_lock, store, night)).release()
    recorded = recorded_nights(store)
    return next((str(night) for _, night in own if night not in recorded), None)


def asked_of_night(store: Store, night_id: str) -> dict[str, Any]:
    """What was asked of a night when the youngest of its runs began; empty where nothing was, or an earlier version began it."""
    return next((dict(manifest.provenance.get(ASKED, {})) for _, manifest in _runs_of(store, night_id)), {})


def gate_of_night(store: Store, night_id: str) -> NightGate:
    """The gate that a night was begun with; one that nothing fails where there was none.

    Raises:
        InputError: what its run's manifest says of it cannot be read.
    """
    return validate(NightGate, asked_of_night(store, night_id).get(GATE, {}))


def has_begun(store: Store, night_id: str) -> bool:
    """Whether the store has a run of the night."""
    return any(_runs_of(store, night_id))


def begun_runs(store: Store, night_id: str) -> BegunRuns:
    """The runs that this night has begun.

    Raises:
        UsageError: another process goes on with it, or one of them is still being written.
    """
    night_lock(store, night_id).release()
    begun = BegunRuns()
    for run_id, manifest in _runs_of(store, night_id):
        about = manifest.provenance
        RunLock(store.journal_path(run_id)).release()
        if (of := about.get("of")) is None:
            begun.suites.setdefault(about["suite"], run_id)
            continue
        for skill in manifest.skills:
            begun.confirmations.setdefault((of, skill.key, tuple(manifest.request.get("taskIds", ()))), run_id)
    return begun


def runs_to_resume(store: Store) -> set[str]:
    """The landed runs of nights that were interrupted, or go on; not of a suite that was evaluated in a later night since."""
    nights = store.tables.dataset("nights").to_table(columns=["night_id", "suite", "run_id"]).to_pylist()
    recorded = recorded_nights(store)
    since: dict[str, str] = {}
    for row in nights:
        if row["run_id"] is not None:
            since[row["suite"]] = max(since.get(row["suite"], ""), row["night_id"])
    found: set[str] = set()
    for run_id in store.tables.files("items"):
        about = manifest.provenance if (manifest := store.find_manifest(run_id)) is not None else {}
        if (night := about.get("night")) is not None and night not in recorded and since.get(about["suite"], "") < night:
            found.add(run_id)
    return found


def _runs_of(store: Store, night_id: str) -> Iterator[tuple[str, Manifest]]:
    """The runs of a night, the youngest first."""
    found = _manifests(store, since=night_id)
    return ((run_id, manifest) for run_id, manifest in found if manifest.provenance.get("night") == night_id)


def suites_of_nights(store: Store, since: str) -> Iterator[tuple[str, str]]:
    """The nights from a day before this one on, each with a suite of a run that it has in the store, once for each run."""
    for _, manifest in _manifests(store, since=since):
        if "night" in manifest.provenance:
            yield str(manifest.provenance["night"]), str(manifest.provenance["suite"])


def _manifests(store: Store, since: str | None = None) -> Iterator[tuple[str, Manifest]]:
    """Of the runs from a day before this one on, the youngest first. By their ids, the runs of a night may be older than it: a
    clock was set back meanwhile, or that of a worker is behind.
    """
    first = "" if since is None else new_run_id(started_at(since) - timedelta(days=1))
    for run_id in reversed(store.run_ids()):
        if run_id[:SECOND] < first[:SECOND]:
            return
        if (manifest := store.find_manifest(run_id)) is not None:
            yield run_id, manifest


SECOND = len("20261121T233824Z")
"""As much of a run id is the moment that it began; the rest is random."""
