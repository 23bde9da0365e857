"""The batches of a monitor, its counts, and its remarks on the log."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from eval_skills.core.models.result import ANSWER_CUT
from eval_skills.core.monitoring import StatusChange, WindowFigures, is_sampled
from eval_skills.core.text import plural
from eval_skills.engine.judging.outcome import could_not_be_judged
from eval_skills.engine.monitor.log.reader import LogReader
from eval_skills.engine.monitor.log.records import USUAL, Interaction, LogFields, RecordReader
from eval_skills.engine.monitor.request import MonitorRequest

BATCH_SAMPLES = 500
BATCH_BYTES = 32 * 1024 * 1024
BATCH_RECORDS = 100_000
"""A batch ends at whichever comes first: its samples, their bytes, or the records that were read for it."""

CHANGES_KEPT = 100
LATELY = 50
"""How many of the last records, and of the last sampled ones, are looked at by themselves."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Sampled interactions that are judged and land together."""

    number: int
    interactions: list[Interaction]

    def __str__(self) -> str:
        return f"batch {self.number} · {plural(len(self.interactions), 'sample')}"


@dataclass(slots=True)
class MonitorCounts:
    """The counts of one call; of the changes, the last ones are kept.

    `written` is when the files of the interactions of the skill in question were last written to, as a Unix time. `named`
    records say which skill answered, and `other` ones are not of the one that is asked for.

    `repeated` samples are interactions that the window had already. Of `cut` ones the answer was cut. `shared_ids` have the id of
    another one in it, `first_shared` is where the first of them stands.

    On `unjudged` samples the judge failed; in `lost_batches` these were more than half, and the `dropped` others there do not
    count either. Of the last records, and of the last ones that were sampled, `read_lately` and `used_lately` say whether each
    could be used.
    """

    other: int = 0
    named: int = 0
    written: float = float("-inf")
    sampled: int = 0
    repeated: int = 0
    cut: int = 0
    shared_ids: int = 0
    first_shared: str = ""
    unusable: int = 0
    unjudged: int = 0
    first_unjudged: str = ""
    lost_batches: int = 0
    dropped: int = 0
    batches: int = 0
    changes: int = 0
    last_changes: deque[StatusChange] = field(default_factory=lambda: deque(maxlen=CHANGES_KEPT))
    read_lately: deque[bool] = field(default_factory=lambda: deque(maxlen=LATELY))
    used_lately: deque[bool] = field(default_factory=lambda: deque(maxlen=LATELY))

    @property
    def is_mostly_unusable_lately(self) -> bool:
        """Whether more than half of the last records, or of the last sampled ones, cannot be used: after a day of good ones an
        agent that crashes before it answers would otherwise need another day to be noticed."""
        return any(2 * lately.count(False) > len(lately) for lately in (self.read_lately, self.used_lately))


def drawn_batches(reader: LogReader, request: MonitorRequest, counts: MonitorCounts) -> Generator[Batch, None, bool]:
    """Samples of everything new in the log, batch by batch; returns whether the last batch ends where the log does."""
    drawn: list[Interaction] = []
    seen = size = 0
    bad = reader.bad
    for interaction in reader.look():
        counts.read_lately.extend([False] * min(reader.bad - bad, LATELY))
        bad = reader.bad
        seen += 1
        counts.named += interaction.skill is not None
        if request.skill is not None and interaction.skill != request.skill:
            counts.other += 1
        else:
            counts.read_lately.append(True)
            counts.written = max(counts.written, reader.written)
            if is_sampled(interaction.id, rate=request.rate, seed=request.seed):
                drawn.append(interaction)
                size += reader.record_bytes
        if len(drawn) >= BATCH_SAMPLES or size >= BATCH_BYTES or seen >= BATCH_RECORDS:
            counts.batches += 1
            yield Batch(counts.batches, drawn)
            drawn, seen, size = [], 0, 0
            bad = reader.bad  # those that could not be judged are among them now
    counts.read_lately.extend([False] * min(reader.bad - bad, LATELY))
    if drawn:
        counts.batches += 1
        yield Batch(counts.batches, drawn)
    return bool(drawn)


def read_remarks(reader: LogReader) -> Iterator[str]:
    """Remarks on records that cannot be used."""
    yield from reader.bad_lines
    if (rest := reader.bad - len(reader.bad_lines)) > 0:
        yield f"and {rest:,} more bad records"
    yield from reader.remarks


def restart_remarks(monitor: str, counted_from: datetime | None, counts: MonitorCounts) -> Iterator[str]:
    """The remark that samples of earlier calls stay in the store beside those that a restart drew again."""
    if counted_from is not None and counts.sampled:
        yield (
            "--restart: the samples of earlier calls stay in the view samples, so what is drawn again is there twice; count "
            f"WHERE monitor_id = '{monitor}' AND sampled_at >= '{counted_from.isoformat()}'"
        )


def shared_remarks(counts: MonitorCounts) -> Iterator[str]:
    """The remark on samples whose id does not tell them apart."""
    if counts.shared_ids:
        samples = "sample has" if counts.shared_ids == 1 else "samples have"
        yield (
            f"{counts.shared_ids:,} {samples} the id of another interaction, with other content, the first at "
            f"{counts.first_shared}: each counts; if another key of the log is unique, name it: --field id=KEY"
        )


def nameless_remarks(counts: MonitorCounts, records: RecordReader) -> Iterator[str]:
    """The remark that no record is of the skill that was asked for because none says whose it is."""
    if counts.other and not counts.named and "skill" not in records.unseen:
        keys = ", ".join(USUAL["skill"])
        yield (
            f"no record says which skill or agent answered ({keys}), so none counts for --skill; if another key of the log does, "
            "name it: --field skill=KEY"
        )


def cut_remarks(counts: MonitorCounts) -> Iterator[str]:
    """The remark on samples whose answer was cut."""
    if counts.cut:
        yield (
            f"the answer was cut in {counts.cut:,} of {plural(counts.sampled, 'sample')}, and judged as it is: see the reason "
            f"{ANSWER_CUT} of each in the view samples"
        )


def unjudged_remarks(counts: MonitorCounts) -> Iterator[str]:
    """The remark on samples that the judge failed on: they count neither as passed nor as failed."""
    if not counts.unjudged:
        return
    total = counts.sampled + counts.repeated + counts.unjudged + counts.dropped
    said = could_not_be_judged(counts.unjudged, total, counts.first_unjudged, "sample")
    batches = plural(counts.lost_batches, "batch")
    lost = f"; nothing counts in {batches} where it failed more than half" if counts.lost_batches else ""
    yield f"{said}; they are left out of the window{lost}"


def left_remarks(reader: LogReader, records: RecordReader, figures: WindowFigures) -> Iterator[str]:
    """Remarks on incomplete lines, named keys that no record has, unreadable timestamps, and errors in the window."""
    yield from (f"{place} is incomplete; it is left for the next call" for place in reader.waiting)
    for name, key in records.unseen.items() if reader.read else ():
        yield f"--field {LogFields.model_fields[name].alias}={key}: no record has this key"
    if records.undated:
        yield (
            f"the timestamp of {plural(records.undated, 'record')} cannot be read, the first at {records.first_undated}: they "
            "count, but not in the order of time; give ISO 8601 or a Unix time, or name another key: --field timestamp=KEY"
        )
    if figures.errors:
        yield f"{figures.errors:,} of {figures.size:,} samples in the window are errors; they count as not passed"
