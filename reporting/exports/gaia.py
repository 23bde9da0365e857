"""A submission to GAIA's leaderboard: JSON Lines with task_id, model_answer and reasoning_trace."""

from __future__ import annotations

import json
from collections.abc import Sequence

from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.models.response import unwrapped
from eval_skills.core.text import encodable
from eval_skills.reporting.context import ReportContext
from eval_skills.reporting.exports.items import text, the_one


def render(reports: Sequence[SkillCompletionReport], context: ReportContext) -> str:
    """A line for each task, with the answer of its first run; an item without an answer has an empty one, which is wrong there.

    `reasoning_trace` are the messages of the item, where they are known.

    Raises:
        UsageError: there are several skills, or no items.
    """
    first: dict[str, TaskResult] = {}
    for item in sorted(the_one(reports, "a submission to GAIA").task_results, key=lambda item: item.run_index):
        first.setdefault(item.task_id, item)
    return "".join(encodable(json.dumps(_line(item), ensure_ascii=False)) + "\n" for item in first.values())


def _line(item: TaskResult) -> dict[str, str]:
    line = {"task_id": item.task_id, "model_answer": _answer(item)}
    if item.messages:
        line["reasoning_trace"] = "\n".join(f"{message.get('role')}: {text(message.get('content'))}" for message in item.messages)
    return line


def _answer(item: TaskResult) -> str:
    answer = unwrapped(item.output)
    return ", ".join(map(text, answer)) if isinstance(answer, list) else text(answer)
