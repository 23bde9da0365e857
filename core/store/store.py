"""The store: every run, readable as tables."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from eval_skills.core.documents.loading import from_home
from eval_skills.core.errors import EvalSkillsError, InputError, RunError, UsageError
from eval_skills.core.store.files import names_in
from eval_skills.core.store.layout import DEFAULT_ROOT, JOURNAL, Layout, check_run_id, is_run_id, new_run_id, started_at
from eval_skills.core.store.manifest import EXPERIMENT, FILE_NAME, Manifest, read_manifest
from eval_skills.core.store.scorings import ASKED
from eval_skills.core.text import skill_key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Set

    import pandas as pd
    import pyarrow as pa

    from eval_skills.core.models import SkillCompletionReport
    from eval_skills.core.store.layout import TableName
    from eval_skills.core.store.remote.mirror import Mirror
    from eval_skills.core.store.tables import Tables


Row = TypeVar("Row")

UNLANDED = "; a run that is not finished is only on the machine that began it: resume it there"

LOST = "the run has landed, and its manifest is gone"

PRIMARY_ORIGINS = frozenset({"run", "replay"})
"""The origins of results in their own right; other rows are later work on these, and never a skill's last result."""

PART = "part"
"""The origin of a run that was asked a part of its benchmark: it speaks of a skill where no whole run does."""


class Store:
    """A folder of runs, or a place in object storage. Creating one of a folder touches nothing; what is not there reads as empty
    tables.

    `path` is a folder; a ``.db``/``.sqlite`` file, which mirrors the store that lies in ``<stem>.store`` beside it; or
    ``s3://bucket/prefix``, ``gs://…`` or ``az://…``. Of the latter, creating a `Store` brings what is new there into a folder of
    this machine (see `refresh`), which is what is read; what lands is published there (see `publish`). `remarks` say what was
    left to be published and could not be.

    Raises:
        UsageError: `path` has another type or is a file, its bucket does not exist, or the credentials are missing or refused.
        RunError: the object storage cannot be reached.
    """

    def __init__(self, path: str | Path = DEFAULT_ROOT) -> None:
        if not isinstance(path, str | os.PathLike):
            raise UsageError(f"Store takes the path of a folder, or a URL; got a value of type {type(path).__name__}")
        self.path = from_home(str(path))
        self.layout = Layout.of(self.path)
        self.remarks: list[str] = []
        self.refresh()
        self._read_manifests: dict[str, tuple[tuple[int, int, int], dict[str, Any]]] = {}

    def refresh(self) -> None:
        """Bring what is new in object storage here, at most every `OPEN_S` seconds, and publish what is left from before.

        Of a store in a folder, nothing is done. Errors as when it is created.
        """
        if self.mirror is not None:
            self.remarks.extend(remark for remark in self.mirror.open() if remark not in self.remarks)

    def publish(self) -> None:
        """Write what landed here to object storage; nothing of a store in a folder.

        Raises:
            UserError: the credentials may not write.
            RunError: it cannot be reached, or another machine wrote the same meanwhile. Nothing is lost: the message says what is
                kept, and the next command with this store goes on.
        """
        if (problem := self.publish_or_keep()) is not None:
            raise problem

    def publish_or_keep(self) -> EvalSkillsError | None:
        """As `publish`, but why the object storage cannot be written is returned: what is kept here is published later.

        Raises:
            RunError: another machine wrote the same meanwhile.
        """
        return None if self.mirror is None else self.mirror.publish()

    @property
    def mirror(self) -> Mirror | None:
        """What keeps the folder like the object storage; None of a store in a folder."""
        if self.layout.address is None:
            return None
        from eval_skills.core.store.remote.mirror import mirror_of

        return mirror_of(self.layout)

    @property
    def place(self) -> str:
        """Where its files are, as a person would name it: its folder, or the address in object storage."""
        return str(self.layout.root) if self.layout.address is None else self.layout.address.url

    @cached_property
    def tables(self) -> Tables:
        """The landed files."""
        from eval_skills.core.store.tables import Tables

        return Tables(self.layout)

    def items(
        self,
        *,
        run_id: str | Iterable[str] | None = None,
        skill_id: str | None = None,
        benchmark_id: str | None = None,
        columns: Iterable[str] | None = None,
    ) -> pd.DataFrame:
        """The landed items, one row each, with the columns of `ITEM_SCHEMA` (or those of `columns`, in that order).

        Of items that were scored again, every scoring has a row, as in the view ``items_all`` of `query`; ``items`` has the last.

        The filters narrow it to one run or several, one skill (all its versions), one benchmark. Lists come as
        numpy arrays, `dimensions` as a dict, JSON columns as text. A run that has not landed is in `item_table`.

        Raises:
            UsageError: a column of that name does not exist, or a run is named by something else than its whole id.
        """
        return self._frame("items", run_id, {"skill_id": skill_id, "benchmark_id": benchmark_id}, columns)

    def reports(self, *, run_id: str | Iterable[str] | None = None, benchmark_id: str | None = None) -> pd.DataFrame:
        """The landed reports, one row per skill of a run, with the columns of `REPORT_SCHEMA`, oldest run first.

        Raises:
            UsageError: a run is named by something else than its whole id.
        """
        return self._frame("reports", run_id, {"benchmark_id": benchmark_id}, None)

    def comparisons(self) -> pd.DataFrame:
        """What backfills have compared, one row per period and skill, with the columns of `COMPARISON_SCHEMA`."""
        return self._frame("comparisons", None, {}, None)

    def samples(self) -> pd.DataFrame:
        """What monitors have drawn from production and judged, with the columns of `SAMPLE_SCHEMA`, in the order it landed."""
        return self._frame("samples", None, {}, None)

    def nights(self) -> pd.DataFrame:
        """The verdicts of every night, one row per suite and skill, with the columns of `NIGHT_SCHEMA`."""
        return self._frame("nights", None, {}, None)

    def preferences(self) -> pd.DataFrame:
        """Every pair of answers that was compared, with the columns of `PREFERENCE_SCHEMA`."""
        return self._frame("preferences", None, {}, None)

    def calibrations(self) -> pd.DataFrame:
        """How far judging models agreed with people, one row per calibration, with the columns of `CALIBRATION_SCHEMA`."""
        return self._frame("calibrations", None, {}, None)

    def labels(self) -> pd.DataFrame:
        """What people said of answers, one row each time, with the columns of `LABEL_SCHEMA`."""
        return self._frame("labels", None, {}, None)

    def runs(self) -> pd.DataFrame:
        """All runs, oldest first, with the columns of `RUN_SCHEMA`."""
        return _to_pandas(self.run_table())

    def query(self, statement: str) -> pd.DataFrame:
        """The answer to one SELECT over the views of `sql.VIEWS`; see `sql.query`."""
        from eval_skills.core.store.sql import query

        return _to_pandas(query(self, statement))

    def history(self) -> dict[str, float | None]:
        """The last completion rate of every skill, by ``id@version``; None where no item of that run has a verdict of it."""
        return {key: known_completion(row) for key, row in self._last_reports(COMPLETION).items()}

    def last_evaluated(self) -> dict[str, datetime]:
        """When (UTC) the last run of every skill began, by ``id@version``."""
        return {key: started_at(row["run_id"]) for key, row in self._last_reports([]).items()}

    def last_reports(self) -> list[SkillCompletionReport]:
        """The last report of every skill (``id@version``), without its items, by that key."""
        from eval_skills.core.store.rows import report_of
        from eval_skills.core.store.schema import REPORT_SCHEMA

        last = self._last_reports(REPORT_SCHEMA.names)
        return [report_of(last[key]) for key in sorted(last)]

    def reports_of(self, run_id: str) -> list[SkillCompletionReport]:
        """The landed reports of one run, without its items, by skill; empty where it has none. Raises as `reports`."""
        from eval_skills.core.store.rows import report_of
        from eval_skills.core.store.schema import REPORT_SCHEMA

        rows = self.tables.rows("reports", REPORT_SCHEMA.names, _run_ids(run_id))
        return [report_of(row) for row in sorted(rows, key=lambda row: (row["skill_id"], row["skill_version"]))]

    def run_ids(self) -> list[str]:
        """The ids of all runs, oldest first: those with a folder here and those that have landed."""
        return sorted(self._folders() | self.tables.files("items").keys())

    def _folders(self) -> set[str]:
        try:
            return set(filter(is_run_id, names_in(self.layout.root / "runs")))
        except OSError as error:
            from eval_skills.core.store.tables import LET_IT_BE_READ

            folder = self.layout.root / "runs"
            raise RunError(f"{folder} cannot be listed: {error.strerror}; {LET_IT_BE_READ}") from None

    def new_run_id(self, at: datetime | None = None) -> str:
        """A fresh id for a run that begins `at` (absent: this moment, and the id is greater than that of every run here).

        Of runs that are dated alike, as replays of one commit, the one that was made last has the greatest id: it is the last
        one of its skill.
        """
        if at is not None:
            return self._dated_run_id(at)
        now = new_run_id(datetime.now(UTC))
        begun = (run_id for run_id in self._folders() if run_id[:-4] <= now[:-4])  # a dated run may be of tomorrow
        return new_run_id(after=max(begun, default=None))

    def _dated_run_id(self, at: datetime) -> str:
        second = new_run_id(at)[:-4]
        there = {run_id for run_id in self._folders() if run_id.startswith(second)}
        # a scoring is dated like its run and has any id: it is nobody's last run
        after = max((run_id for run_id in there if self._origin(run_id) != "rescore"), default=None)
        while (run_id := new_run_id(at, after=after)) in there:
            pass
        return run_id

    def latest_run(self) -> str | None:
        """The id of the run that began last, finished or not; None in an empty store.

        A run that is later work on another one (see `PRIMARY_ORIGINS`) is never it.
        """
        return next((run_id for run_id in reversed(self.run_ids()) if self._origin(run_id) in {*PRIMARY_ORIGINS, PART}), None)

    def unfinished(self) -> list[str]:
        """The ids of the runs that still have a journal or have not landed, oldest first: what can be resumed."""
        landed = self._landed()
        return [run_id for run_id in self.run_ids() if self._state(run_id, run_id in landed) == "unfinished"]

    def run_folder(self, run_id: str) -> Path:
        """The folder of one run, whether it exists or not. Raises `UsageError` when `run_id` is not a run id."""
        return self.layout.run_folder(run_id)

    def journal_path(self, run_id: str) -> Path:
        """The journal of one run, whether it exists or not. Raises `UsageError` when `run_id` is not a run id."""
        return self.layout.journal(run_id)

    def manifest(self, run_id: str) -> Manifest:
        """The manifest of one run.

        Raises:
            UsageError: `run_id` is not a run id, or this store has no such run.
            InputError: its manifest is damaged.
        """
        folder = self.run_folder(run_id)
        if not folder.is_dir():
            latest = self.latest_run()
            known = f"the latest there is {latest}" if latest else "it holds none"
            raise UsageError(f"no run {run_id} in {self.place}; {known}{UNLANDED if self.layout.address else ''}")
        return read_manifest(folder)

    def find_manifest(self, run_id: str, *, is_named: bool = False) -> Manifest | None:
        """The manifest of one run, or None where it is missing or damaged: one bad file does not hide the other runs.

        A damaged one `is_named`, if so asked (`Tables.tell`), and so is one that a run has lost which was reported.
        """
        try:
            return read_manifest(folder := self.run_folder(run_id))
        except InputError as error:
            if is_named and os.path.lexists(path := folder / FILE_NAME):
                self.tables.name_damaged(str(path), error)
            elif is_named and self.lost_manifest(run_id):
                self.tables.name_damaged(str(path), InputError(LOST))
            return None

    def lost_manifest(self, run_id: str) -> bool:
        """Whether a run that was reported has its folder here and no manifest in it. Of a run of another machine there is no
        folder; a process that was stopped at once left one without results."""
        folder = self.run_folder(run_id)
        gone = os.access(folder, os.X_OK) and not os.path.lexists(folder / FILE_NAME)
        return gone and run_id in self.tables.files("reports", [run_id])

    def item_table(self, run_id: str) -> pa.Table:
        """All items of one run, each once, with `ITEM_SCHEMA`: what has landed, and over it what its journal holds."""
        import pyarrow as pa

        from eval_skills.core.store.landing import run_batches
        from eval_skills.core.store.schema import ITEM_SCHEMA

        return pa.Table.from_batches(run_batches(self, run_id), schema=ITEM_SCHEMA)

    def run_table(self) -> pa.Table:
        """All runs, oldest first, with `RUN_SCHEMA`. What a manifest or items alone know is null where these are damaged."""
        import pyarrow as pa

        from eval_skills.core.store.schema import RUN_SCHEMA

        return pa.Table.from_pylist(self.run_list(), schema=RUN_SCHEMA)

    def run_list(self) -> list[dict[str, Any]]:
        """The rows of `run_table`."""
        landed = self.tables.landed_rows()
        return [{**row, "landed_items": landed.get(row["run_id"], 0)} for row in self.run_rows()][::-1]

    def run_rows(self) -> Iterator[dict[str, Any]]:
        """All runs, youngest first, as rows of `run_table` without `landed_items`, with their `origin` and what
        their arms are to each other (`experiment`).

        Each manifest is read when its run's turn comes: who needs the youngest runs only does not pay for a year of them.
        """
        landed = self._landed()
        for run_id in reversed(self.run_ids()):
            yield self._run_row(run_id, run_id in landed)

    def _landed(self) -> Set[str]:
        return self.tables.files("items").keys() | self.tables.files("reports").keys()  # old items go, reports stay

    def _run_row(self, run_id: str, has_landed: bool) -> dict[str, Any]:
        names = ("benchmark", "skills", "planned_items", "git_commit", "flow_run_id", "origin", "experiment", "stopped")
        row: dict[str, Any] = dict.fromkeys(names)
        row |= {"run_id": run_id, "started_at": started_at(run_id), "state": self._state(run_id, has_landed)}
        return row | self._from_manifest(run_id)

    def run_states(self) -> dict[str, Hashable]:
        """What differs when `run_rows` does, or the scoring that counts, but for landed files: of each run its manifest, when it
        was asked for again, and whether it has a journal."""
        return {
            run_id: (self._state_of(run_id, FILE_NAME), self._state_of(run_id, ASKED), self._has_journal(run_id))
            for run_id in self.run_ids()
        }

    def rescorings(self) -> list[str]:
        """The runs that score answers of other ones again, oldest first, as far as their manifests are there to say of which."""
        asked = (run_id for run_id in sorted(self._folders()) if self._may_be_rescoring(run_id))
        return [run_id for run_id in asked if self._from_manifest(run_id, is_named=False).get("origin") == "rescore"]

    def _may_be_rescoring(self, run_id: str) -> bool:
        """Whether the word is in its manifest at all: hardly any run is one, and to read them all takes a tenth of the time."""
        if run_id in self._read_manifests:
            return True
        try:
            with open(self.layout.run_file(run_id, FILE_NAME), "rb", buffering=0) as manifest:
                return b"rescore" in manifest.read()
        except OSError:
            return False

    def _has_journal(self, run_id: str) -> bool:
        return os.path.exists(self.layout.run_file(run_id, JOURNAL))

    def _state_of(self, run_id: str, name: str) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self.layout.run_file(run_id, name))
        except OSError:
            return None
        return found.st_size, found.st_mtime_ns, found.st_ino

    def _from_manifest(self, run_id: str, *, is_named: bool = True) -> dict[str, Any]:
        """What a row has from its manifest; empty without one. It is read again only where its file is another one, for who asks
        again and again, as the viewer does."""
        state = self._state_of(run_id, FILE_NAME)
        if state is not None and (known := self._read_manifests.get(run_id)) is not None and known[0] == state:
            return dict(known[1])
        manifest = self.find_manifest(run_id, is_named=is_named)
        if manifest is None:
            return {}
        row: dict[str, Any] = {name: getattr(manifest, name) for name in ("origin", "planned_items", "git_commit", "flow_run_id")}
        row["benchmark"] = f"{manifest.benchmark.id}@{manifest.benchmark.version}"
        row["skills"] = [skill.key for skill in manifest.skills]
        row["experiment"] = manifest.provenance.get(EXPERIMENT)
        row["stopped"] = None if manifest.stopped is None else manifest.stopped.name
        if state is not None:
            self._read_manifests[run_id] = (state, dict(row))
        return row

    def _origin(self, run_id: str) -> str:
        manifest = self.find_manifest(run_id)
        return manifest.origin if manifest is not None else "run"

    def _state(self, run_id: str, has_landed: bool) -> str:
        return "finished" if has_landed and not self._has_journal(run_id) else "unfinished"

    def _last_reports(self, columns: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The row of the last report of every skill of primary origin, with these columns, its run and identity.

        The last one is that of the run that began last, however late another one was resumed.
        """
        from eval_skills.core.store.missing import name_missing

        name_missing(self, "reports")
        wanted = {*columns, "run_id", "skill_id", "skill_version", "origin"}
        rows = sorted(self.tables.rows("reports", sorted(wanted)), key=lambda row: row["run_id"])
        of_skill = without_parts(rows, lambda row: (row["skill_id"], row["skill_version"]), lambda row: row["origin"])
        self.tables.name_to_come(row["run_id"] for row in of_skill)
        return {skill_key_of(row): row for row in of_skill}

    def _frame(
        self, name: TableName, run_id: str | Iterable[str] | None, equal: dict[str, str | None], columns: Iterable[str] | None
    ) -> pd.DataFrame:
        import pyarrow.dataset as ds

        from eval_skills.core.store.parquet_reading import of_what_is_there
        from eval_skills.core.store.schema import SCHEMAS

        wanted = _listed("columns", columns)
        if unknown := sorted(map(repr, set(wanted or ()) - set(SCHEMAS[name].names))):
            raise UsageError(f"{name} has no column {unknown[0]}; it has {', '.join(SCHEMAS[name].names)}")
        if strange := next((each for each, value in equal.items() if not isinstance(value, str | None)), None):
            raise UsageError(f"{strange} is the text of one id; got a value of type {type(equal[strange]).__name__}")
        run_ids = _run_ids(run_id)
        condition = ds.scalar(True)
        for column, value in equal.items():
            condition = condition if value is None else condition & (ds.field(column) == value)

        def read() -> pa.Table:
            with self.tables.readable(name, run_ids):
                dataset = self.tables.dataset(name, run_ids)
                return dataset.to_table(columns=wanted or SCHEMAS[name].names, filter=condition)

        return _to_pandas(of_what_is_there(read))


def _run_ids(given: str | Iterable[str] | None) -> list[str] | None:
    run_ids = _listed("run_id", given)
    try:
        return None if run_ids is None else [check_run_id(each) for each in run_ids]
    except UsageError as error:
        raise UsageError(f"run_id: {error}; Store.latest_run() returns the latest one, Store.run_ids() all") from None


def _listed(name: str, given: str | Iterable[str] | None) -> list[str] | None:
    if given is None or isinstance(given, str):
        return None if given is None else [given]
    try:
        return list(given)
    except TypeError:
        raise UsageError(f"{name} is text, or a list of texts; got a value of type {type(given).__name__}") from None


COMPLETION = ("completion_rate", "missing_items", "judged_completion_rate")
"""The columns of the reports that `known_completion` looks at."""


def known_completion(row: Mapping[str, Any]) -> float | None:
    """The completion rate in a row of the reports; None where no item has a verdict on the skill, as after an outage."""
    from eval_skills.core.models.report import has_verdict

    return row["completion_rate"] if has_verdict(row["missing_items"], row["judged_completion_rate"]) else None


def is_primary(origin: str | None) -> bool:
    """Whether rows of this origin are in `PRIMARY_ORIGINS`; those without an origin are."""
    return origin is None or origin in PRIMARY_ORIGINS


def is_own(origin: str | None) -> bool:
    """Whether rows of this origin are results in their own right, of a whole benchmark or of a part of it."""
    return is_primary(origin) or origin == PART


def without_parts(rows: Iterable[Row], what: Callable[[Row], Hashable], origin_of: Callable[[Row], str | None]) -> list[Row]:
    """The rows of whole benchmarks; those of a part only where no whole one is about the same (`what`). Later work is left out.

    A figure over a part of the tasks is not one over all of them: the two are never in one line.
    """
    own = [row for row in rows if is_own(origin_of(row))]
    whole = {what(row) for row in own if is_primary(origin_of(row))}
    return [row for row in own if is_primary(origin_of(row)) or what(row) not in whole]


def _to_pandas(table: pa.Table) -> pd.DataFrame:
    frame: pd.DataFrame = table.to_pandas(maps_as_pydicts="strict")
    return frame
