"""The recording of a run: every answer as a line of a file that `--replay` reads, written while the run works.

Lines are appended to a part beside the file, so that a killed run loses none; the file itself appears whole, when the run is.
"""

from __future__ import annotations

import os
from pathlib import Path

from eval_skills.adapters.recorded import RecordedRun, read_recorded, recorded_line
from eval_skills.core.documents.loading import MAX_DOCUMENT_BYTES
from eval_skills.core.errors import InputError
from eval_skills.core.models import ItemResult
from eval_skills.core.models.result import KEY_COLUMNS, ItemKey, item_key_of
from eval_skills.core.redaction import Redaction
from eval_skills.core.store.files import explained, write_pieces
from eval_skills.core.store.journal import as_kept
from eval_skills.core.text import first_of, plural
from eval_skills.engine.evaluation.plan import Item, RunPlan
from eval_skills.engine.evaluation.recordings import asked_digest


class Recorder:
    """Appends the answers of one run to the part of its recording.

    A line that cannot be written ends the recording and not the run: `land_recording` says which answers are missing.
    """

    def __init__(self, plan: RunPlan, redaction: Redaction) -> None:
        self._part: Path | None = part_of(plan)
        self._digests = {key: asked_digest(each.task) for key, each in plan.scorings.items()}
        self._redaction, self._remarks = redaction, plan.remarks
        if _is_torn(self._part):  # by a kill: what comes next must not become its end
            self._write(b"\n")

    def add(self, result: ItemResult) -> None:
        """Append the answer, or the error, of a finished item; secrets are replaced as in the journal."""
        if self._part is None:
            return
        line = recorded_line(as_kept(result, self._redaction), self._digests[result.task_id])
        if line is None or len(line) > MAX_DOCUMENT_BYTES:
            return
        self._write(line)

    def _write(self, content: bytes) -> None:
        if self._part is None:
            return
        try:
            self._part.parent.mkdir(parents=True, exist_ok=True)
            with self._part.open("ab") as part:
                part.write(content)
        except OSError as error:
            self._remarks.append(f"the recording {self._part} cannot be written: {error.strerror}; the run goes on without it")
            self._part = None


def _is_torn(part: Path) -> bool:
    """Whether the last line has no end."""
    try:
        with part.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"
    except OSError:  # it is not there yet, or empty
        return False


def part_of(plan: RunPlan) -> Path:
    """Where the lines of the recording of a run with `--record` are until it is whole."""
    file = Path(str(plan.request.record)).absolute()
    return file.with_name(f"{file.name}.{plan.run_id}.part")


def land_recording(plan: RunPlan) -> list[str]:
    """Write the recording of a run that is whole, in the order of its plan; returns remarks on it.

    One that lacks answers replaces none that is there, and one without any is not written: its lines stay in the part.

    Raises:
        RunError: the file cannot be written; the part is kept.
    """
    part = part_of(plan)
    file, lines = Path(str(plan.request.record)), _lines_of(part)
    missing = _missing(plan, lines)
    if missing and (not lines or file.exists()):
        kept = f"; what was recorded is in {part}" if lines else ""
        return [f"{file} was not written{kept}", *missing]
    with explained(file):
        write_pieces(file, (lines[key] for key in _in_order(plan, lines)))
        part.unlink(missing_ok=True)
    return [
        f"recorded {plural(len(lines), 'answer')} in {file}; --replay {file} judges them again",
        *missing,
    ]


def partial_recording(plan: RunPlan) -> list[str]:
    """A remark on the recording of a run that is not whole; none where nothing was answered."""
    part = part_of(plan)
    if not part.exists():
        return []
    return [f"{plan.request.record} is written when the run is whole; what was answered so far is in {part}"]


def _lines_of(part: Path) -> dict[ItemKey, bytes]:
    """The last line of each item; one that was cut off when the run was killed belongs to an item that was asked again."""
    lines: dict[ItemKey, bytes] = {}
    if not part.exists():
        return lines
    with part.open("rb") as file:
        for line in file:
            if (run := _whole(line)) is not None:
                lines[str(run.skill), run.task_id, run.run_index or 0] = line
    return lines


def _whole(line: bytes) -> RecordedRun | None:
    try:
        return read_recorded(line, "recording") if line.endswith(b"\n") else None
    except InputError:  # cut off by a kill before the journal had the answer: its item was asked again
        return None


def _in_order(plan: RunPlan, lines: dict[ItemKey, bytes]) -> list[ItemKey]:
    places = {task.id: place for place, task in enumerate(plan.benchmark.tasks)}
    return sorted(lines, key=lambda key: (places.get(key[1], len(places)), key[0], key[2]))


def _missing(plan: RunPlan, lines: dict[ItemKey, bytes]) -> list[str]:
    """The items of a whole run without a line: a resumed one knows only what it asked itself, so the table is read."""
    table = plan.store.item_table(plan.run_id).select(KEY_COLUMNS)
    every = [Item(*item_key_of(row)) for row in table.to_pylist()]
    missing = [str(item) for item in every if item.key not in lines]
    if not missing:
        return []
    few = first_of(missing, 3)
    return [f"{plural(len(missing), 'answer')} could not be recorded, and a replay has none: {few}"]
