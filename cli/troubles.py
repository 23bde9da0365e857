"""Why items of a run ended badly, in a handful of lines below its ranking."""

from __future__ import annotations

from collections.abc import Sequence

from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.reporting.escape import excerpt, one_line
from eval_skills.reporting.figures import plural
from eval_skills.reporting.ranking import ranked
from eval_skills.reporting.sections import ErrorKindCount, errors_by_kind, reasons

LINES, LENGTH = 5, 200


def trouble_lines(reports: Sequence[SkillCompletionReport]) -> list[str]:
    """The first error of every skill with their number, then the first failures; at most `LINES` of each, and how many more.

    ``12 errors of a@1.0.0: infra: connection refused`` and ``failed: t1#2 of b@1.0.0: NOT_EQUAL: 4 is not 5``.
    """
    order = ranked(reports)
    return [*_errors(order), *_failures(order)]


def _errors(reports: Sequence[SkillCompletionReport]) -> list[str]:
    found = [(report.skill_key, kinds) for report in reports if (kinds := errors_by_kind(report))]
    lines = [_of_skill(skill, kinds) for skill, kinds in found[:LINES]]
    more = [kind for _, kinds in found[LINES:] for kind in kinds]
    return [*lines, f"… and {plural(sum(kind.items for kind in more), 'error')} of other skills"] if more else lines


def _of_skill(skill: str, kinds: Sequence[ErrorKindCount]) -> str:
    first, others = kinds[0], sum(kind.items for kind in kinds[1:])
    count = f"{plural(first.items, 'error')}" + (f" (of {first.items + others:,})" if others else "")
    said = f": {_short(first.message)}" if first.message else ""
    if first.messages > 1:
        said = f", the first of {first.messages} messages{said}"
    return f"{count} of {skill}: {first.kind}{said}"


def _failures(reports: Sequence[SkillCompletionReport]) -> list[str]:
    failed = [(report.skill_key, item) for report in reports for item in report.task_results if item.status == "fail"]
    lines = [_failure(skill, item) for skill, item in failed[:LINES]]
    more = len(failed) - LINES
    return [*lines, f"… and {plural(more, 'failure')} more, which the reports have"] if more > 0 else lines


def _failure(skill: str, item: TaskResult) -> str:
    return f"failed: {_short(item.task_id)}#{item.run_index + 1} of {skill}: {_short(reasons(item)[0])}"


def _short(text: str) -> str:
    return excerpt(one_line(text), LENGTH)
