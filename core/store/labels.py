"""What people say of answers: ``pass``, ``fail`` or a comment, kept with who said it and when."""

from __future__ import annotations

import csv
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from io import StringIO
from typing import TYPE_CHECKING, Any, Literal

from eval_skills.core.judging.labels import COLUMNS
from eval_skills.core.store.landing import land_rows
from eval_skills.core.store.layout import new_run_id
from eval_skills.core.store.schema import LABEL_SCHEMA
from eval_skills.core.text import skill_key_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from eval_skills.core.store.store import Store

ROWS_A_FILE = 500
"""So many labels of one viewer share a file, which is written anew for each of them."""

ITEM = ("run_id", "skill_id", "skill_version", "benchmark_id", "task_id", "run_index")
"""What tells one answer from all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLabel:
    """What `labelled_by` says of one answer. A `label` of None says nothing of that, or takes back what was said before.
    `status` and `score` are what the run itself says of it."""

    run_id: str
    skill_id: str
    skill_version: str
    benchmark_id: str
    benchmark_version: str | None
    task_id: str
    run_index: int
    label: Literal["pass", "fail"] | None
    comment: str | None
    status: str | None
    score: float | None
    labelled_by: str


class LabelWriter:
    """Writes the labels of one process into files of its own, so that several may label at once.

    A label is on disk when `add` returns.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._file = ""
        self._lock = threading.Lock()

    def add(self, label: AnswerLabel) -> dict[str, Any]:
        """Keep a label; returns its row.

        Raises:
            RunError: the store cannot be written.
        """
        with self._lock:
            rows = self._store.tables.rows("labels", LABEL_SCHEMA.names, [self._file]) if self._file else []
            if not self._file or len(rows) >= ROWS_A_FILE:
                rows, self._file = [], new_run_id()
            named = {name: getattr(label, name, None) for name in LABEL_SCHEMA.names}
            row = named | {"labels_id": self._file, "labelled_at": datetime.now(UTC)}
            land_rows(self._store, "labels", self._file, [*rows, row])
            return row


def current_labels(store: Store, run_id: str | None = None) -> list[dict[str, Any]]:
    """The last label of each answer (of one run, or of all), by when it was given; without those that were taken back."""
    rows = sorted(store.tables.rows("labels", LABEL_SCHEMA.names), key=lambda row: (row["labelled_at"], row["labels_id"]))
    last: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        key = tuple(row[name] for name in ITEM)
        last.pop(key, None)
        if row["label"] or row["comment"]:
            last[key] = row
    return [row for row in last.values() if run_id is None or row["run_id"] == run_id]


def labels_csv(labels: Iterable[Mapping[str, Any]]) -> str:
    """Those that say pass or fail as the CSV that ``judge calibrate --labels`` reads."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [name for name in COLUMNS if name != "answer"]
    writer.writerow(names)
    for row in labels:
        if row["label"]:
            known = {**row, "skill_id": skill_key_of(row)}
            writer.writerow(["" if known[name] is None else known[name] for name in names])
    return text.getvalue()
