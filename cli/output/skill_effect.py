"""What `skill-effect` prints: the arms, the verdict of each comparison, and the tasks that lost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from eval_skills.cli.context import current
from eval_skills.cli.output.run import print_experiment
from eval_skills.cli.output.tables import NO_LIMIT, bare_table
from eval_skills.core.text import first_of, plural
from eval_skills.reporting.escape import visible_line
from eval_skills.reporting.skill_effect.figures import (
    ARM_COLUMNS,
    arm_cells,
    comparison_line,
    comparison_notes,
    judging_cost,
    spending,
    title,
    undiscerning_lines,
    worse_tasks,
)

if TYPE_CHECKING:
    from eval_skills.core.skill_effect.model import SkillEffect

TASKS_SHOWN, NAMES_SHOWN = 10, 10
LEAST_TELLING_FIRST = ("turns", "time", "95 % interval", "cost", "tokens")
COLOURS = {"better": "green", "worse": "red"}


def show_effect(effect: SkillEffect, files: Sequence[Path], failures: Sequence[str] | None, *, store: str) -> None:
    """The effect on stdout, as one document in a ``--json`` call; `failures` of the gate, None where there was none."""
    if current().json:
        print_experiment(effect, files, failures, store)
        return
    session = current()
    session.say(title(effect))
    _show_arms(effect)
    for found in effect.comparisons:
        session.say("")
        style = "" if effect.problems else COLOURS.get(found.diff.verdict or "", "")
        session.say(visible_line(comparison_line(found, effect)), style=style)
        for line in comparison_notes(found, effect):
            session.say(f"  {visible_line(line)}")
        for spent in spending(found):
            session.say(f"  {spent.name}: {spent.against} → {spent.ours} ({spent.ratio}), {spent.tested}")
    if (judging := judging_cost(effect)) is not None:
        session.say("")
        session.say(judging)
    _show_worse(effect)
    for how, names in undiscerning_lines(effect):
        session.say(f"says nothing, {how}: {first_of(names, NAMES_SHOWN)}")
    for remark in effect.remarks:
        session.remark(visible_line(remark))
    for problem in effect.problems:
        session.say(f"set-up error: {visible_line(problem)}", style="red")
    for path in files:
        session.say(f"report  {path}")
    session.say_stored(store, f"run {effect.run_id}")
    _show_gate(failures, effect)


def _show_arms(effect: SkillEffect) -> None:
    out = current().out(pipe_width=NO_LIMIT)
    rows = [dict(zip(ARM_COLUMNS, arm_cells(arm), strict=True)) for arm in effect.arms]
    columns = [name for name in ARM_COLUMNS if name == "arm" or any(row[name] != "–" for row in rows)]
    for name in LEAST_TELLING_FIRST:
        if _width(rows, columns) > out.width and name in columns:
            columns.remove(name)
    table = bare_table()
    for name in columns:
        table.add_column(name, justify="left" if name == "arm" else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(visible_line(row[name])) for name in columns))
    out.print(table)


def _width(rows: Sequence[dict[str, str]], columns: Sequence[str]) -> int:
    return sum(max(len(name), *(len(row[name]) for row in rows)) + 2 for name in columns)


def _show_worse(effect: SkillEffect) -> None:
    tasks = worse_tasks(effect)
    if not tasks:
        return
    current().say("")
    current().say(f"{plural(len(tasks), 'task')} got worse with the Agent Skill", style="red")
    table = bare_table()
    table.add_column("task", overflow="fold")
    for each in effect.arms:
        table.add_column(each.arm, justify="right", no_wrap=True)
    table.add_column("worse than", overflow="fold")
    for task in tasks[:TASKS_SHOWN]:
        table.add_row(*(Text(visible_line(cell)) for cell in (*task.cells, task.worse_than)))
    current().out(pipe_width=NO_LIMIT).print(table)
    if len(tasks) > TASKS_SHOWN:
        current().say(f"… and {len(tasks) - TASKS_SHOWN:,} more; the reports have them all")


def _show_gate(failures: Sequence[str] | None, effect: SkillEffect) -> None:
    for failure in failures or ():
        current().say(f"gate failed: {visible_line(failure)}", style="red")
    if failures == []:
        proven = all(each.diff.verdict == "better" for each in effect.comparisons)
        words = "proven to be better than" if proven else "not proven to be worse than"
        arms = ", ".join(each.against for each in effect.comparisons)
        current().say(f"gate passed: with the Agent Skill it is {words} {arms}", style="green")
