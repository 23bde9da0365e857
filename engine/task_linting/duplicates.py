"""Tasks that ask the same, or almost the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eval_skills.core.fingerprint import canonical_json
from eval_skills.core.models import EvalTask
from eval_skills.engine.task_linting.case import Case, Unchecked
from eval_skills.engine.task_linting.expectations import contradict
from eval_skills.engine.task_linting.finding import Finding
from eval_skills.engine.task_linting.similarity import near_pairs, same

_ONE_OF_THEM = "keep one of them"


async def duplicates(tasks: Sequence[EvalTask], cases: Mapping[str, Case]) -> list[Finding]:
    """A finding for each task that asks what an earlier one asks: an error where they accept only different answers."""
    first: dict[str, EvalTask] = {}
    found = []
    for task in tasks:
        earlier = first.setdefault(same(task.asked), task)
        if earlier is not task:
            found.append(await _duplicate(task, earlier, cases))
    return found


async def _duplicate(task: EvalTask, earlier: EvalTask, cases: Mapping[str, Case]) -> Finding:
    one, other = cases.get(task.id), cases.get(earlier.id)
    try:
        clash = one is not None and other is not None and await contradict(one, other)
    except Unchecked:
        clash = False
    if clash:
        message = f"asks what task {earlier.id!r} asks, and neither accepts the other's expected answer"
        return Finding("contradiction", "error", task.id, message, "find out which answer is right, and remove the other task")
    return Finding("duplicate-input", "warning", task.id, f"asks what task {earlier.id!r} asks", _ONE_OF_THEM)


def near_duplicates(tasks: Sequence[EvalTask]) -> tuple[list[Finding], list[str]]:
    """A finding for each task that asks and expects almost what an earlier one does; a remark where that was not looked at."""
    pairs, left = near_pairs([task.asked for task in tasks], [_expectation(task) for task in tasks])
    of_later: dict[int, int] = {}
    for one, other in pairs:
        of_later.setdefault(other, one)
    found = [
        Finding("near-duplicate", "note", tasks[other].id, f"asks almost what task {tasks[one].id!r} asks", _ONE_OF_THEM)
        for other, one in sorted(of_later.items())
    ]
    return found, [f"{left:,} pairs of tasks were not compared for almost equal inputs: too many"] if left else []


def _expectation(task: EvalTask) -> str:
    """What is equal for tasks that expect the same: tasks that differ there are meant to differ."""
    data = task.to_json()
    about = {"id", "description", "inputData", "tags", "weight", "metadata", "complexity"}
    return canonical_json({name: value for name, value in data.items() if name not in about})
