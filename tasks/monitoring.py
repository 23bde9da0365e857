"""A monitor at work: read, sample, judge, land, and say what changed. Plain: no Prefect."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType
from typing import Self

from eval_skills.core.errors import InputError
from eval_skills.core.models import Verdict
from eval_skills.core.monitoring import HealthMonitor, StatusChange, WindowFigures
from eval_skills.core.redaction import Redaction
from eval_skills.core.sampling import is_sampled
from eval_skills.core.store import Store, land_samples, new_run_id
from eval_skills.core.store.lock import RunLock
from eval_skills.tasks.interactions import Interaction, RecordReader
from eval_skills.tasks.log_files import check_log
from eval_skills.tasks.log_reader import LogReader
from eval_skills.tasks.monitor_position import (
    MonitorPosition,
    monitor_id,
    position_file,
    read_position,
    window_of,
    write_position,
)
from eval_skills.tasks.monitor_request import LogFields, MonitorRequest
from eval_skills.tasks.monitor_summary import MonitorSummary, summary_line
from eval_skills.tasks.monitor_task import MonitorTask
from eval_skills.tasks.places import check_folder
from eval_skills.tasks.samples import Sample, unanswered

BATCH_SAMPLES = 500
BATCH_BYTES = 32 * 1024 * 1024
BATCH_RECORDS = 100_000
"""A batch ends at whichever comes first: its samples, their bytes, or the records that were looked at for it."""

CHANGES_KEPT = 100

Announce = Callable[[StatusChange], None]


@dataclass(frozen=True, slots=True)
class Batch:
    """Sampled interactions that are judged and land together."""

    number: int
    interactions: list[Interaction]

    def __str__(self) -> str:
        count = len(self.interactions)
        return f"batch {self.number} · {count} {'sample' if count == 1 else 'samples'}"


@dataclass(slots=True)
class _Counts:
    other: int = 0
    sampled: int = 0
    repeated: int = 0
    unusable: int = 0
    batches: int = 0
    changes: int = 0
    last_changes: deque[StatusChange] = field(default_factory=lambda: deque(maxlen=CHANGES_KEPT))


def check_monitor(request: MonitorRequest) -> None:
    """Refuse a request that no session could be opened for. Nothing is left behind.

    Raises:
        UserError: the log, the task or the store cannot be used.
    """
    MonitorSession(request)


class MonitorSession:
    """One call of a monitor; to be entered before its `batches` are asked for. Another call of the same one is refused meanwhile.

    Its memory is one batch, one window and one mark per file, however long the log is and however long it is followed.

    Raises:
        UserError: the log, the task or the store cannot be used.
    """

    def __init__(self, request: MonitorRequest) -> None:
        check_log(Path(request.log))
        self.request, self.task = request, MonitorTask.of(request)
        self.store = Store(request.store)
        check_folder(self.store.layout.root, "--store", "samples")
        self.monitor_id, self.run_id = monitor_id(request, self.task), new_run_id()
        self._file = position_file(self.store, self.monitor_id)
        self._records = RecordReader(request.fields, lacking=self.task.lacking)
        self._redaction = Redaction({name: os.environ[name] for name in request.secrets if os.environ.get(name)})
        self._counts = _Counts()

    def __enter__(self) -> Self:
        self._lock = RunLock(self._file, what=f"monitor {self.monitor_id} of {self.request.log}")
        try:
            found = None if self.request.restart else read_position(self._file)
        except BaseException:
            self._lock.release()
            raise
        self._saved = found or MonitorPosition(monitor_id=self.monitor_id, log=self.request.log)
        self.health = HealthMonitor(self.request.rule, self._saved.samples, self._saved.announced)
        self.reader = LogReader(Path(self.request.log), self._records, self._saved.files)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._lock.release()

    def batches(self) -> Iterator[Batch]:
        """The sampled interactions of all that is new in the log; with `follow`, of all that comes until it is idle.

        The log's position moves with `judge`: a batch that is not handed there is read again by the next call.
        """
        idle_since = monotonic()
        while True:
            before = self.reader.read
            yield from self._look()
            if not self.request.follow:
                return
            if self.reader.read > before:
                idle_since = monotonic()
            left = (self.request.idle_stop_s or float("inf")) - (monotonic() - idle_since)
            if left <= 0:
                return
            sleep(min(self.request.interval_s, left))

    def judge(self, batch: Batch, announce: Announce) -> None:
        """Judge a batch, land its samples, announce what changed, and move the position, in this order.

        Killed in between, the next call reads the batch again: its samples land in the same file, a change may be announced
        twice and is never lost.
        """
        samples = self._samples(batch)
        rows, changes, now = [], [], datetime.now(UTC)
        origin = {"monitor_id": self.monitor_id, "monitor_run_id": self.run_id}
        drawn_by = {"rate": self.request.rate, "seed": self.request.seed}
        for sample in samples:
            if sample.judged.interaction_id in self.health:
                self._counts.repeated += 1
                continue
            rows.append(origin | sample.row(self._redaction, now) | drawn_by)
            if (change := self.health.add(sample.judged)) is not None:
                changes.append(change)
        if rows:
            self._land(rows)
        for change in changes:
            announce(change)
        self._counts.sampled += len(rows)
        self._counts.changes += len(changes)
        self._counts.last_changes.extend(changes)
        self._save()

    def summary(self) -> MonitorSummary:
        """What this call came to.

        Raises:
            InputError: there were records, and not one of them could be used.
        """
        reader, counts = self.reader, self._counts
        if reader.bad and (reader.read == reader.bad or (counts.unusable and not counts.sampled + counts.repeated)):
            first = self._redaction.text(reader.bad_lines[0])
            raise InputError(f"none of {reader.read:,} records can be used; the first: {first}", source=self.request.log)
        figures = self.health.figures()
        return MonitorSummary(
            monitor_id=self.monitor_id,
            run_id=self.run_id,
            log=self.request.log,
            line=summary_line(self.health.status, figures, reader.read, counts.sampled, reader.bad),
            status=self.health.status,
            announced=self.health.announced,
            window=figures,
            read=reader.read,
            bad=reader.bad,
            other=counts.other,
            sampled=counts.sampled,
            repeated=counts.repeated,
            changes=list(counts.last_changes),
            change_count=counts.changes,
            remarks=[self._redaction.text(remark) for remark in self._remarks(figures)],
            store=self.store.path,
            task_runs=counts.batches,
        )

    def _look(self) -> Iterator[Batch]:
        drawn: list[Interaction] = []
        seen = size = 0
        for interaction in self.reader.look():
            seen += 1
            if self._draws(interaction):
                drawn.append(interaction)
                size += self.reader.record_bytes
            if len(drawn) >= BATCH_SAMPLES or size >= BATCH_BYTES or seen >= BATCH_RECORDS:
                yield self._batch(drawn)
                drawn, seen, size = [], 0, 0
        if drawn:
            yield self._batch(drawn)
        elif self.reader.marks() != self._saved.files:
            self._save()

    def _batch(self, drawn: list[Interaction]) -> Batch:
        self._counts.batches += 1
        return Batch(self._counts.batches, drawn)

    def _draws(self, interaction: Interaction) -> bool:
        if self.request.skill is not None and interaction.skill != self.request.skill:
            self._counts.other += 1
            return False
        return is_sampled(interaction.id, rate=self.request.rate, seed=self.request.seed)

    def _samples(self, batch: Batch) -> list[Sample]:
        # a loop of its own thread: whoever calls us, a notebook or a flow on an event loop, may have one running
        with ThreadPoolExecutor(1) as thread:
            verdicts = thread.submit(asyncio.run, self._verdicts(batch.interactions)).result()
        samples = []
        for interaction, verdict in zip(batch.interactions, verdicts, strict=True):
            if isinstance(verdict, Verdict):
                samples.append(Sample(interaction=interaction, verdict=verdict))
            else:
                self._counts.unusable += 1
                self.reader.refuse(interaction.source, verdict)
        return samples

    async def _verdicts(self, interactions: list[Interaction]) -> list[Verdict | str]:
        """Each one's verdict, or why it cannot be judged."""
        places = asyncio.Semaphore(self.request.concurrency)

        async def judged(interaction: Interaction) -> Verdict | str:
            if interaction.error is not None:
                return unanswered(interaction, self.task.scorer, self._redaction)
            async with places:
                try:
                    return await self.task.verdict(interaction)
                except InputError as error:
                    return str(error)

        return await asyncio.gather(*map(judged, interactions))

    def _land(self, rows: list[dict[str, object]]) -> None:
        batch_id = self._saved.pending or new_run_id()
        while batch_id != self._saved.pending and self.store.tables.files("samples", [batch_id]):
            batch_id = new_run_id()
        write_position(self._file, self._saved.model_copy(update={"pending": batch_id}))
        land_samples(self.store, batch_id, rows)

    def _save(self) -> None:
        if self.reader.read == self.reader.bad:
            return  # a wrong key or a wrong file: whoever mends that wants to begin again
        self._saved = MonitorPosition(
            monitor_id=self.monitor_id,
            log=str(Path(self.request.log).resolve()),
            files=self.reader.marks(),
            window=window_of(self.health.samples),
            announced=self.health.announced,
        )
        write_position(self._file, self._saved)

    def _remarks(self, figures: WindowFigures) -> Iterator[str]:
        reader = self.reader
        yield from reader.bad_lines
        if (rest := reader.bad - len(reader.bad_lines)) > 0:
            yield f"and {rest:,} more bad records"
        yield from reader.remarks
        yield from (f"{place} is not whole yet; it waits for the next call" for place in reader.waiting)
        for name, key in self._records.unseen.items() if reader.read else ():
            yield f"--field {LogFields.model_fields[name].alias}={key}: no record has this key"
        if figures.errors:
            yield f"{figures.errors:,} of {figures.size:,} samples in the window are errors; they count as not passed"
