"""One call of a monitor: read the log, sample, score, land, and announce changes of the status."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType
from typing import Self

from eval_skills.core.errors import InputError, RunError
from eval_skills.core.models import Verdict
from eval_skills.core.monitoring import HealthMonitor, StatusChange
from eval_skills.core.redaction import Redaction
from eval_skills.core.store import Store, land_rows, new_run_id
from eval_skills.core.store.files import RunLock
from eval_skills.engine.definition.benchmark import check_judges
from eval_skills.engine.definition.request import check_store
from eval_skills.engine.definition.scoring import judges_of
from eval_skills.engine.judging.outcome import failed_judging, refuse_half_judged, spending_lines
from eval_skills.engine.judging.preflight import check_judges_ready
from eval_skills.engine.monitor.batches import (
    Batch,
    MonitorCounts,
    cut_remarks,
    drawn_batches,
    left_remarks,
    nameless_remarks,
    read_remarks,
    restart_remarks,
    shared_remarks,
    unjudged_remarks,
)
from eval_skills.engine.monitor.expectation import MonitorTask
from eval_skills.engine.monitor.log.files import check_log
from eval_skills.engine.monitor.log.reader import LogReader
from eval_skills.engine.monitor.log.records import RecordReader
from eval_skills.engine.monitor.request import MonitorRequest
from eval_skills.engine.monitor.samples import Sample, SampleJudging
from eval_skills.engine.monitor.state import (
    MonitorState,
    monitor_id,
    read_state,
    state_file,
    window_of,
    write_state,
)
from eval_skills.engine.monitor.summary import MonitorSummary, summary_line

_MAY_BE_GONE = "UNAVAILABLE DISCONNECTED TIMEOUT RATE_LIMIT AUTH MODEL QUOTA NOT_ASKED CONFIGURATION BUDGET"
_OUTAGE = frozenset(f"JUDGE_{what}" for what in _MAY_BE_GONE.split())
"""Errors of the judge that may be gone by the next call, unlike those about one answer."""

Announce = Callable[[StatusChange], None]


def check_monitor(request: MonitorRequest) -> MonitorTask:
    """The task of a request that a session can be opened for; UserError for others. Nothing is written."""
    return MonitorSession(request).task


class MonitorSession:
    """One call of a monitor, to be entered before its `batches` are read. A second call of the same monitor is refused meanwhile.

    Its memory is one batch, one window and one position per file, however long the log is and however long it is followed.

    Raises:
        UserError: the log, the task or the store cannot be used.
    """

    def __init__(self, request: MonitorRequest) -> None:
        check_log(Path(request.log))
        self.request, self.task = request, MonitorTask.of(request)
        self.store = Store(request.store)
        check_store(self.store.layout, "samples", "monitors", "samples")
        check_judges(self.task.scorings)
        self.monitor_id, self.run_id = monitor_id(request, self.task), new_run_id()
        self._file = state_file(self.store, self.monitor_id)
        self._records = RecordReader(request.fields, lacking=self.task.lacking)
        self._redaction = Redaction.of_variables(request.secrets)
        self._judging = SampleJudging(self.task, self._redaction, request.concurrency)
        self._counts = MonitorCounts()
        self._judged_last: Batch | None = None
        self._noted = 0
        self._counted_from: datetime | None = None

    def __enter__(self) -> Self:
        self._judge_remarks = check_judges_ready(self.task.scorings)
        self._lock = RunLock(self._file, what=f"monitor {self.monitor_id} of {self.request.log}", mode=self.store.layout.mode)
        try:
            found = self._begin_again() if self.request.restart else read_state(self._file)
        except BaseException:
            self._lock.release()
            raise
        self._saved = found or MonitorState(monitor_id=self.monitor_id, log=self.request.log)
        self.health = HealthMonitor(self.request.rule, self._saved.samples, self._saved.announced)
        self._judged_lately = deque(self._saved.judged_lately, self.request.rule.window)
        self._last_record, self._judged_at = self._saved.last_record, self._saved.judged_at
        known = self._saved.files
        self.reader = LogReader(Path(self.request.log), self._records, known, knows_rotated=self._saved.knows_rotated)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._lock.release()

    def batches(self, wait: Callable[[float], object] = sleep) -> Iterator[Batch]:
        """The sampled interactions of everything new in the log; with `follow`, also of what arrives until it is idle.

        Between two looks at the log it calls `wait` with the seconds; what that raises ends it.

        The saved position moves with `judge`: a batch that is not passed there is read again by the next call.
        """
        idle_since = monotonic()
        while True:
            before = self.reader.read
            has_batch = yield from drawn_batches(self.reader, self.request, self._counts)
            if not has_batch and self.reader.marks() != self._saved.files:
                self._save()
            if not self.request.follow:
                return
            if self.reader.read > before:
                idle_since = monotonic()
            self._note_records()
            left = (self.request.idle_stop_s or float("inf")) - (monotonic() - idle_since)
            if left <= 0:
                return
            wait(min(self.request.interval_s, left))

    def judge(self, batch: Batch, announce: Announce) -> None:
        """Score a batch, land its samples, announce changes, and save the position, in this order.

        If it is killed in between, the next call reads the batch again: its samples land in the same file, and a change may be
        announced twice but is never lost. The batch that was judged last is not judged again.

        Raises:
            RunError: the cost limit was reached, or the judge could not be reached for more than half of the batch; the batch has
                not landed, and the next call reads it again.
        """
        if batch is self._judged_last:
            return
        samples = self._samples(batch)
        refuse_half_judged(judges_of(self.task.scorings))
        samples = self._judged(samples)
        rows, changes, now = [], [], datetime.now(UTC)
        origin = {"monitor_id": self.monitor_id, "monitor_run_id": self.run_id}
        drawn_by = {"rate": self.request.rate, "seed": self.request.seed}
        for sample in samples:
            judged = sample.judged
            if judged in self.health:
                self._counts.repeated += 1
                continue
            if self.health.names_another(judged):
                self._counts.shared_ids += 1
                self._counts.first_shared = self._counts.first_shared or sample.interaction.source
            self._counts.cut += sample.is_cut
            rows.append(origin | sample.row(self._redaction, now) | drawn_by)
            if (change := self.health.add(judged)) is not None:
                changes.append(change)
        if rows:
            self._land(rows)
        for change in changes:
            announce(change)
        self._counts.sampled += len(rows)
        self._counts.changes += len(changes)
        self._judged_at = now if samples else self._judged_at
        self._counts.last_changes.extend(changes)
        self._save()
        self._judged_last = batch

    def summary(self) -> MonitorSummary:
        """The result of this call; InputError where there were records and none of them could be used."""
        reader, counts = self.reader, self._counts
        if reader.bad and (reader.read == reader.bad or (counts.unusable and not counts.sampled + counts.repeated)):
            first = self._redaction.text(reader.bad_lines[0])
            raise InputError(f"none of {reader.read:,} records can be used; the first: {first}", source=self.request.log)
        figures = self.health.figures()
        remarks = [
            *restart_remarks(self.monitor_id, self._counted_from, counts),
            *read_remarks(reader),
            *nameless_remarks(counts, self._records),
            *shared_remarks(counts),
            *cut_remarks(counts),
            *self._judge_remarks,
            *unjudged_remarks(counts),
            *spending_lines(judges_of(self.task.scorings)),
            *left_remarks(reader, self._records, figures),
        ]
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
            shared_ids=counts.shared_ids,
            changes=list(counts.last_changes),
            change_count=counts.changes,
            remarks=[self._redaction.text(remark) for remark in remarks],
            store=self.store.path,
            unjudged=counts.unjudged,
            judge_failed=counts.lost_batches > 0,
            too_little=self._too_little,
            left_open=self._left_open,
            worst_status=self.request.rule.status(figures.passed, figures.size + self._left_open),
            unread=tuple(reader.unread),
            task_runs=counts.batches,
            last_record=self._last_record,
        )

    def _begin_again(self) -> None:
        """Note from when on samples count, if earlier calls left some, or a state that cannot be read."""
        try:
            earlier = read_state(self._file)
        except InputError:
            self._counted_from = datetime.now(UTC)
        else:
            self._counted_from = datetime.now(UTC) if earlier and (earlier.window or earlier.pending) else None

    @property
    def _too_little(self) -> bool:
        """Whether too little can be judged of what was new when there last was anything, or of the last of it: of an agent that
        crashes before it answers, or where the judge failed."""
        reader, counts = self.reader, self._counts
        found = reader.read - counts.other
        drawn = counts.sampled + counts.repeated + counts.unjudged + counts.dropped + counts.unusable
        mostly_bad = 2 * reader.bad > found or 2 * counts.unusable > drawn or counts.is_mostly_unusable_lately
        return mostly_bad or counts.lost_batches > 0 if found else self._saved.too_little

    @property
    def _left_open(self) -> int:
        """How many of the last samples the judge failed on."""
        return self._judged_lately.count(False)

    def _note_records(self) -> None:
        """Note until when the log was not silent, if it has more records of the skill than were noted: until their file was last
        written to, and no later than now. A line that cannot be read names no skill: it is not one of the skill in question."""
        counts, now = self._counts, datetime.now(UTC)
        is_of_all = self.request.skill is None
        found = self.reader.read - counts.other - (0 if is_of_all else self.reader.bad - counts.unusable)
        if found <= self._noted:
            return
        written = min(max(counts.written, self.reader.bad_written) if is_of_all else counts.written, now.timestamp())
        moments = [datetime.fromtimestamp(written, UTC)]
        if self._last_record is not None and self._last_record <= now:  # a clock that was ahead says nothing
            moments.append(self._last_record)
        self._noted, self._last_record = found, max(moments)

    def _samples(self, batch: Batch) -> list[Sample]:
        samples = []
        for interaction, verdict in zip(batch.interactions, self._judging.verdicts(batch.interactions), strict=True):
            self._counts.used_lately.append(isinstance(verdict, Verdict))
            if isinstance(verdict, Verdict):
                samples.append(Sample(interaction=interaction, verdict=verdict))
            else:
                self._counts.unusable += 1
                self.reader.refuse(interaction.source, verdict)
        return samples

    def _judged(self, samples: list[Sample]) -> list[Sample]:
        """The samples without those that the judge failed on; none at all where these are more than half."""
        missing = [each for each in samples if each.verdict.error_kind == "judge"]
        if not missing:
            self._judged_lately.extend(True for _ in samples)
            return samples
        errors = [self._redaction.text(each.verdict.reasons[0].message) for each in missing]
        is_lost = 2 * len(missing) > len(samples)
        if is_lost and 2 * sum(each.verdict.reasons[0].code in _OUTAGE for each in missing) > len(samples):
            raise RunError(
                f"{failed_judging(errors, len(samples), 'sample')}; nothing of this batch landed, and the status is "
                f"still {self.health.status}: make the same call again once the judge answers"
            )
        if not is_lost:  # nothing of a lost batch counts: `too_little` is about that
            self._judged_lately.extend(each.verdict.error_kind != "judge" for each in samples)
        self._counts.unjudged += len(missing)
        self._counts.first_unjudged = self._counts.first_unjudged or errors[0]
        self._counts.lost_batches += is_lost
        self._counts.dropped += len(samples) - len(missing) if is_lost else 0
        return [] if is_lost else [each for each in samples if each.verdict.error_kind != "judge"]

    def _land(self, rows: list[dict[str, object]]) -> None:
        batch_id = self._saved.pending or new_run_id()
        while batch_id != self._saved.pending and self.store.tables.files("samples", [batch_id]):
            batch_id = new_run_id()
        write_state(self._file, self._saved.model_copy(update={"pending": batch_id}))
        self.store.publish()  # first: another machine that reads the same records is refused before its samples are there, too
        land_rows(self.store, "samples", batch_id, rows)

    def _save(self) -> None:
        if self.reader.bad and self.reader.read == self.reader.bad:
            return  # a wrong key or a wrong file: once that is fixed, reading has to start again
        self._note_records()
        self._saved = MonitorState(
            monitor_id=self.monitor_id,
            log=str(Path(self.request.log).resolve()),
            files=self.reader.marks(),
            knows_rotated=True,
            window=window_of(self.health.samples),
            announced=self.health.announced,
            last_record=self._last_record,
            judged_at=self._judged_at,
            too_little=self._too_little,
            judged_lately=list(self._judged_lately),
        )
        write_state(self._file, self._saved)
        self.store.publish()  # another machine that reads the log goes on from here
