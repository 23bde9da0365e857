"""Which item of a stored run each label is about. Plain: no Prefect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eval_skills.core.errors import InputError, nearest
from eval_skills.core.labels import Label
from eval_skills.core.models import ItemResult


def matched(labels: Sequence[Label], results: Sequence[ItemResult], source: str, run_id: str) -> list[tuple[Label, ItemResult]]:
    """Every label with the one item of the run that it is about; `source` is the file of the labels.

    Raises:
        InputError: a label fits no item, or several, or two labels fit one; the message names the line.
    """
    found_items: list[tuple[Label, ItemResult]] = []
    taken: dict[tuple[str, str, int], int] = {}
    by_task: dict[str, list[ItemResult]] = {}
    for item in results:
        by_task.setdefault(item.task_id, []).append(item)
    for label in labels:
        found = [item for item in by_task.get(label.task_id, ()) if _fits(label, item)]
        if len(found) != 1:
            raise InputError(f"line {label.line}: {_not_one(label, found, by_task, run_id)}", source=source)
        if (first := taken.setdefault(found[0].key, label.line)) != label.line:
            raise InputError(f"line {label.line} labels the same item as line {first}; keep one", source=source)
        found_items.append((label, found[0]))
    return found_items


def _fits(label: Label, item: ItemResult) -> bool:
    return (label.run_index is None or label.run_index == item.run_index) and (
        label.skill is None or label.skill in (item.skill_id, item.skill_key)
    )


def _not_one(label: Label, found: Sequence[ItemResult], by_task: Mapping[str, Sequence[ItemResult]], run_id: str) -> str:
    if label.task_id not in by_task:
        return f"run {run_id} has no item of task {label.task_id!r}{nearest(label.task_id, by_task)}"
    if not found:
        return f"run {run_id} has no such item of task {label.task_id!r}; look at run_index (from 0 on) and skill_id"
    columns = ["skill_id"] if len({item.skill_key for item in found}) > 1 else []
    columns += ["run_index"] if len({item.run_index for item in found}) > 1 else []
    return f"it fits {len(found)} items of task {label.task_id!r}; say which one with {' and '.join(columns)}"
