"""An effect as a night shows it: a few lines for the terminal, and the differences of all its nights as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eval_skills.core.skill_effect.model import SkillEffect
from eval_skills.core.store.effects import EffectPoint
from eval_skills.core.text import first_of, plural
from eval_skills.reporting.escape import markdown
from eval_skills.reporting.numbers import UNKNOWN, interval, points
from eval_skills.reporting.skill_effect.figures import comparison_line, loads_text

TASKS_NAMED = 5
NIGHTS_IN_A_LINE = 5
NIGHTS_SHOWN = 60


def effect_lines(effect: SkillEffect, past: Sequence[EffectPoint]) -> Iterator[str]:
    """Verdicts with intervals and the tasks that got worse, the loads of each arm, and the differences of the last nights."""
    for found in effect.comparisons:
        yield comparison_line(found, effect)
        if (statistics := found.diff.statistics) is not None:
            bounds = statistics.interval
            yield f"  {100 * bounds.level:g} % interval {interval(bounds)}"
        if found.diff.explanation and found.diff.statistics is None:
            yield f"  {found.diff.explanation}"
        if worse := [task.task_id for task in effect.worse(found.against)]:
            yield f"  {plural(len(worse), 'task')} worse: {first_of(worse, TASKS_NAMED)}"
        before = [point for point in past if point.against == found.against][-NIGHTS_IN_A_LINE:]
        if before:
            yield f"  nights before, oldest first: {', '.join(difference_text(point) for point in before)}"
    yield f"loaded: {', '.join(f'{arm.arm} {loads_text(arm)}' for arm in effect.arms)}"
    yield from effect.remarks


def difference_text(point: EffectPoint) -> str:
    """``+78.6 pp better``; a dash for a difference that says nothing."""
    return f"{points(point.difference)} {point.verdict}"


def nights_markdown(past: Sequence[EffectPoint], tonight: Sequence[EffectPoint]) -> str:
    """The differences of all nights, oldest first, each with its interval and verdict."""
    lines = ["## Night by night", "", "| night | with − | difference | 95 % interval | verdict |", "|:--|:--|--:|--:|:--|"]
    for point in [*past, *tonight][-NIGHTS_SHOWN:]:
        cells = (point.night_id or UNKNOWN, point.against, points(point.difference), interval(point.interval), point.verdict)
        lines.append(f"| {' | '.join(map(markdown, cells))} |")
    return "\n".join(lines) + "\n"
