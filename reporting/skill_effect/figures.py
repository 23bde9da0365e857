"""How the figures of an effect are shown to people: the arms as rows, each comparison as sentences, the tasks that lost."""

from __future__ import annotations

from dataclasses import dataclass

from eval_skills.core.skill_effect.gate import of_answers
from eval_skills.core.skill_effect.model import Arm, ArmComparison, ArmFigures, SkillEffect, TaskEffect, Undiscerning
from eval_skills.core.text import natural_order, p_is, plural
from eval_skills.reporting import numbers
from eval_skills.reporting.diff.figures import sensitivity, verdict_text
from eval_skills.reporting.escape import visible_line
from eval_skills.reporting.numbers import UNKNOWN, points

ARM_COLUMNS = ("arm", "completion", "95 % interval", "loaded", "tokens", "cost", "time", "turns")
MEASURES = {"latencyMs": "time", "costUsd": "cost", "tokens": "tokens", "steps": "turns"}


def arm_cells(arm: ArmFigures) -> tuple[str, ...]:
    """The row of an arm under `ARM_COLUMNS`: tokens, cost and turns are means of an item, the time is its median."""
    return (
        arm.arm,
        numbers.rate(arm.completion_rate),
        numbers.interval(arm.interval),
        loads_text(arm),
        numbers.count(arm.tokens),
        numbers.usd(arm.cost_usd),
        numbers.milliseconds(arm.latency_ms) if arm.latency_ms is None or arm.latency_ms < 10_000 else _seconds(arm.latency_ms),
        turns(arm.steps),
    )


def turns(value: float | None) -> str:
    """A mean number of turns: ``3.9``."""
    return UNKNOWN if value is None else f"{value:z.1f}"


def _seconds(milliseconds: float) -> str:
    return numbers.duration(milliseconds / 1000)


def loads_text(arm: ArmFigures) -> str:
    """In how many of the items that know it an Agent Skill was loaded: ``22 of 24``; a dash where none knows."""
    if not arm.known_loads:
        return UNKNOWN
    unknown = arm.items - arm.known_loads
    return f"{arm.loaded:,} of {arm.known_loads:,}" + (f", {unknown:,} unknown" if unknown else "")


def comparison_line(found: ArmComparison, effect: SkillEffect) -> str:
    """``with − without: +37.5 pp, ✔ better (p = 0.012); gain 75 % of what was left``; no verdict where the set-up is wrong."""
    what = f"with − {found.against}"
    statistics = found.diff.statistics
    if effect.problems:
        difference = "" if statistics is None else f"{points(statistics.mean_difference)}, "
        return f"{what}: {difference}no verdict: the set-up is wrong"
    if statistics is None:
        return f"{what}: {verdict_text(found.diff)}"
    gain = "gain undefined" if found.gain is None else f"gain {numbers.whole_rate(found.gain)} of what was left"
    return f"{what}: {points(statistics.mean_difference)}, {verdict_text(found.diff)} ({p_is(statistics.adjusted_p, 3)}); {gain}"


def comparison_notes(found: ArmComparison, effect: SkillEffect) -> list[str]:
    """What stands below it: the verdict in a sentence, and what this sample could have shown; nothing without a verdict."""
    if effect.problems:
        return []
    lines = [found.diff.explanation] if found.diff.explanation else []
    if found.diff.statistics is not None:
        lines.append(sensitivity(found.diff.statistics))
    if found.rests_on_errors:
        lines.append(f"items without an answer count as not passed; {of_answers(found)}")
    return lines


def text_lines(effect: SkillEffect) -> list[str]:
    """The effect as plain text: the arms, every verdict with its reason, the tasks that lost."""
    lines = [title(effect)]
    lines += [
        f"  {arm.arm}: {numbers.rate(arm.completion_rate)} ({numbers.interval(arm.interval)}), loaded {loads_text(arm)}"
        for arm in effect.arms
    ]
    for found in effect.comparisons:
        lines += [comparison_line(found, effect), *(f"  {note}" for note in comparison_notes(found, effect))]
    lines += filter(None, [judging_cost(effect)])
    lines += [f"worse than {task.worse_than}: {task.cells[0]}" for task in worse_tasks(effect)]
    return [visible_line(line) for line in lines]


def judging_cost(effect: SkillEffect) -> str | None:
    """``judging: $0.0120 with, $0.0110 without; not in the arms' cost``; None where no cost of judging is known."""
    known = [f"{numbers.usd(arm.judge_cost_usd)} {arm.arm}" for arm in effect.arms if arm.judge_cost_usd is not None]
    return f"judging: {', '.join(known)}; not in the arms' cost" if known else None


@dataclass(frozen=True, slots=True)
class Spent:
    """How a cost of the arms differs: the figure, both sides as text, the ratio, and whether a test says that it changed."""

    name: str
    against: str
    ours: str
    ratio: str
    tested: str


def spending(found: ArmComparison) -> list[Spent]:
    """Time, cost, tokens and turns of both arms on the shared tasks; geometric means (means, where a task took nothing in one arm
    alone, and there is no ratio), each tested on its own."""
    show = {"latencyMs": numbers.milliseconds, "costUsd": numbers.usd, "tokens": numbers.count, "steps": turns}
    rows = [row for row in found.diff.rows if row.metric in show]
    return [
        Spent(
            MEASURES[row.metric],
            show[row.metric](row.before),
            show[row.metric](row.after),
            "no ratio to nothing" if row.ratio is None else f"× {_ratio_text(row.ratio)}",
            "less" if row.significant and row.good else "more" if row.significant else "not proven to differ",
        )
        for row in rows
    ]


def _ratio_text(ratio: float) -> str:
    """``1.23``; up to four decimals where fewer would call it 0 or 1, which it is not, and ``2.5e+17`` where it is extreme."""
    if numbers.is_extreme(ratio):
        return f"{ratio:.2g}"
    texts = [f"{ratio:.{decimals}f}" for decimals in (2, 3, 4)]
    return next((text for text in texts if float(text) not in (0.0, 1.0)), texts[0])


def task_cells(task: TaskEffect, arms: list[Arm]) -> tuple[str, ...]:
    """A task and the share of its runs that passed in each arm."""
    return (task.task_id, *(numbers.rate(task.rates.get(arm)) for arm in arms))


@dataclass(frozen=True, slots=True)
class WorseTask:
    """A task that lost, its share of passed runs in each arm as text, and the arms that did better on it."""

    cells: tuple[str, ...]
    worse_than: str


def worse_tasks(effect: SkillEffect) -> list[WorseTask]:
    """The tasks that lost against any arm, the largest loss first."""
    losses: dict[str, list[Arm]] = {}
    for each in effect.comparisons:
        for task in effect.worse(each.against):
            losses.setdefault(task.task_id, []).append(each.against)
    tasks = {task.task_id: task for task in effect.tasks}
    arms = [each.arm for each in effect.arms]
    largest = {name: min(tasks[name].difference(arm) or 0.0 for arm in lost) for name, lost in losses.items()}
    order = sorted(losses, key=lambda name: (largest[name], natural_order(name)))
    return [WorseTask(task_cells(tasks[name], arms), ", ".join(losses[name])) for name in order]


def undiscerning_lines(effect: SkillEffect) -> list[tuple[str, list[str]]]:
    """What came out the same everywhere, by how: names of tasks, and ``task: check``."""

    def names(passed: bool) -> list[str]:
        return [_named(each) for each in effect.undiscerning if each.passed == passed]

    listed = [("passed in every run of every arm", names(True)), ("passed in no run of any arm", names(False))]
    return [(how, found) for how, found in listed if found]


def _named(each: Undiscerning) -> str:
    return each.task_id if each.check is None else f"{each.task_id}: {each.check}"


def title(effect: SkillEffect) -> str:
    """``csv-tools on opencode (openai/gpt-5): 8 tasks, 3 runs of each in every arm``; ``1 to 3 runs`` where some have fewer."""
    model = f" ({effect.model})" if effect.model else ""
    tasks, most = max(each.tasks for each in effect.arms), max(each.runs for each in effect.arms)
    fewest = min(_fewest_runs(each) if each.tasks == tasks else 0 for each in effect.arms)
    return (
        f"{', '.join(effect.names)} on {effect.agent}{model}: {plural(tasks, 'task')}, "
        f"{f'{fewest:,} to ' if fewest < most else ''}{plural(most, 'run')} of each in every arm"
    )


def _fewest_runs(arm: ArmFigures) -> int:
    return arm.runs if arm.fewest_runs is None else arm.fewest_runs
