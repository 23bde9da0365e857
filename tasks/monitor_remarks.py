"""What a person should know of the log that a monitor reads, beside its figures."""

from __future__ import annotations

from collections.abc import Iterator

from eval_skills.core.monitoring import WindowFigures
from eval_skills.reporting.figures import plural
from eval_skills.tasks.interactions import RecordReader
from eval_skills.tasks.judging import failed_judging
from eval_skills.tasks.log_reader import LogReader
from eval_skills.tasks.monitor_batch import MonitorCounts
from eval_skills.tasks.monitor_request import LogFields


def read_remarks(reader: LogReader) -> Iterator[str]:
    """What was read and could not be used."""
    yield from reader.bad_lines
    if (rest := reader.bad - len(reader.bad_lines)) > 0:
        yield f"and {rest:,} more bad records"
    yield from reader.remarks


def unjudged_remarks(counts: MonitorCounts) -> Iterator[str]:
    """What the judge failed: it counts neither as passed nor as failed."""
    if not counts.unjudged:
        return
    total = counts.sampled + counts.repeated + counts.unjudged + counts.dropped
    said = failed_judging(counts.unjudged, total, counts.first_unjudged, "sample")
    batches = plural(counts.lost_batches, "batch")
    lost = f"; it failed more than half of {batches}, of which nothing counts" if counts.lost_batches else ""
    yield f"{said}; they are left out of the window{lost}"


def left_remarks(reader: LogReader, records: RecordReader, figures: WindowFigures) -> Iterator[str]:
    """What waits for the next call, what was named and never seen, and what does not count as passed."""
    yield from (f"{place} is not whole yet; it waits for the next call" for place in reader.waiting)
    for name, key in records.unseen.items() if reader.read else ():
        yield f"--field {LogFields.model_fields[name].alias}={key}: no record has this key"
    if figures.errors:
        yield f"{figures.errors:,} of {figures.size:,} samples in the window are errors; they count as not passed"
