"""Labels that people give while they read answers in the viewer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from eval_skills.core.errors import UsageError
from eval_skills.core.store.labels import AnswerLabel, LabelWriter, current_labels

if TYPE_CHECKING:
    from eval_skills.core.store import Store

LONGEST_COMMENT = 4000
_COLUMNS = ("skill_id", "skill_version", "benchmark_id", "benchmark_version", "task_id", "run_index", "status", "score")


class GivenLabel(BaseModel):
    """What the page sends: of which answer, and what the person says. Both None takes back what was said before.

    `skill` is ``id@version``, `run_index` counts from 0.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    run: str
    skill: str
    benchmark: str
    task: str
    run_index: Annotated[int, Field(ge=0)]
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
        wanted = (given.skill, given.benchmark, given.task, given.run_index)
        found = next((row for row in rows if _key(row) == wanted), None)
        if found is None:
            raise UsageError(
                f"no answer to label: run {given.run} has landed no run {given.run_index + 1} of that task by {given.skill}"
            )
        label = AnswerLabel(
            **found, run_id=given.run, label=given.label, comment=(given.comment or "").strip() or None, labelled_by=self.by
        )
        return shown_label(self.writer.add(label))


def labels_of(store: Store, run_id: str) -> dict[tuple[str, str, str, int], dict[str, Any]]:
    """What people say of a run's answers, by skill (``id@version``), benchmark, task and run index."""
    return {_key(row): shown_label(row) for row in current_labels(store, run_id)}


def shown_label(row: dict[str, Any]) -> dict[str, Any]:
    """A label as pages show it."""
    moment = row["labelled_at"].isoformat(timespec="seconds")
    return {"label": row["label"], "comment": row["comment"], "by": row["labelled_by"], "at": moment}


def _key(row: dict[str, Any]) -> tuple[str, str, str, int]:
    return f"{row['skill_id']}@{row['skill_version']}", row["benchmark_id"], row["task_id"], row["run_index"]
