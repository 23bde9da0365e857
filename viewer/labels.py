"""Labels that people give while they read answers in the viewer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

from eval_skills.core.errors import UsageError
from eval_skills.core.store.labels import AnswerLabel, LabelWriter, current_labels
from eval_skills.core.text import skill_key_of
from eval_skills.core.viewer_pages import KEY_LENGTH, key_of
from eval_skills.reporting.escape import visible

if TYPE_CHECKING:
    from eval_skills.core.store import Store

LONGEST_COMMENT = 4000
_COLUMNS = ("skill_id", "skill_version", "benchmark_id", "benchmark_version", "task_id", "run_index", "status", "score")


class GivenLabel(BaseModel):
    """What the page sends: of which answer, and what the person says. Both None takes back what was said before.

    `answer` is the key of the answer's page (`core.viewer_pages.item_page`).
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    run: str
    answer: str
    label: Literal["pass", "fail"] | None
    comment: Annotated[str, StringConstraints(max_length=LONGEST_COMMENT)] | None = None


@dataclass(slots=True)
class Labelling:
    """Takes the labels of one open viewer; `by` is who gives them."""

    store: Store
    by: str
    writer: LabelWriter

    def add(self, given: GivenLabel) -> dict[str, Any]:
        """Keep a label; returns it as pages show it.

        Raises:
            UsageError: no landed run has that answer.
            RunError: the store cannot be written.
        """
        rows = self.store.tables.rows("items", _COLUMNS, [given.run])
        found = next((row for row in rows if _key(row) == given.answer), None)
        if found is None:
            raise UsageError(f"no answer to label: run {given.run} has landed no answer of the page {given.answer}")
        label = AnswerLabel(
            **found, run_id=given.run, label=given.label, comment=(given.comment or "").strip() or None, labelled_by=self.by
        )
        return shown_label(self.writer.add(label))


def labels_of(store: Store, run_id: str) -> dict[str, dict[str, Any]]:
    """What people say of a run's answers, by the keys of the answers' pages."""
    return {_key(row): shown_label(row) for row in current_labels(store, run_id)}


def to_label(page: str, run_id: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """What a page needs to label an answer, with the label that it has already; `page` is the answer's own."""
    key = page.removesuffix(".html")[-KEY_LENGTH:]
    return {"answer": {"run": run_id, "answer": key}, "said": said.get(key)}


def shown_label(row: dict[str, Any]) -> dict[str, Any]:
    """A label as pages show it."""
    moment = row["labelled_at"].isoformat(timespec="seconds")
    return {
        "label": row["label"],
        "comment": None if row["comment"] is None else visible(row["comment"]),
        "by": visible(row["labelled_by"]),
        "at": moment,
    }


def _key(row: dict[str, Any]) -> str:
    return key_of(row["benchmark_id"], row["task_id"], skill_key_of(row), row["run_index"])
