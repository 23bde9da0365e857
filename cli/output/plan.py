"""What `plan` prints: the choices as a table with a bar for the power, and what follows from them."""

from __future__ import annotations

from eval_skills.cli.context import current
from eval_skills.cli.output.tables import Column, print_table
from eval_skills.core.text import percents_apart, plural
from eval_skills.engine.planning.plan import GateCheck, Plan, PlanRow
from eval_skills.reporting import numbers
from eval_skills.reporting.numbers import UNKNOWN

BAR = 10


def show_plan(plan: Plan) -> None:
    """The table, and which choice is the cheapest that is enough."""
    say = current().say
    say(f"completion {numbers.rate(plan.base_rate)}, flakiness {numbers.rate(plan.flakiness)}, from {plan.source}")
    if plan.source.startswith("run "):
        say("estimates: half a pass, half a failure and half a flaky task are added", style="dim")
    if plan.assumed:
        say(f"assumed: {', '.join(plan.assumed)}", style="yellow")
    say("")
    columns = [
        *(Column(name, right=True) for name in ("tasks", "runs", "items", "power")),
        Column(""),
        Column("smallest", right=True, drop=1),
        Column("cost", right=True, drop=2),
        Column("time", right=True, drop=3),
        Column(""),
    ]
    print_table(columns, [_cells(row, plan) for row in plan.rows])
    say("")
    say(f"power: how often a loss of {_points(plan.effect)} is found, compared for {plural(plan.skills, 'skill')}")
    say(_advice(plan), style="" if plan.cheapest is not None else "yellow")
    if plan.best is not None:
        best = plan.rows[plan.best]
        say(f"the smallest effect that {plan.budget} can show: {_points(best.smallest_effect)} ({_size(best)})")


def show_check(found: GateCheck) -> None:
    """False alarms and power, one line each."""
    say = current().say
    say(f"run {found.run_id}: {plural(found.skills, 'skill')}, {plural(found.tasks, 'task')}, {found.runs:g} runs of each")
    say(f"report diff --fail-on worse, simulated {found.draws} times on two runs like it, fails")
    say(f"  where nothing changed  {numbers.rate(found.false_alarms)}")
    for effect, rate in found.found.items():
        say(f"  {'one skill lost ' + _points(float(effect)):<21}  {numbers.rate(rate)}")


def _cells(row: PlanRow, plan: Plan) -> list[str]:
    enough = "✔" if row.power >= plan.target else " "
    over = "over budget" if row.within_budget is False else ""
    return [
        *(f"{number:,}" for number in (row.tasks, row.runs, row.items)),
        _power(row.power, plan.target),
        f"{'█' * round(BAR * row.power):<{BAR}} {enough}",
        _points(row.smallest_effect),
        numbers.usd(row.cost_usd),
        UNKNOWN if row.seconds is None else numbers.duration(row.seconds),
        over,
    ]


def _power(power: float, target: float) -> str:
    """The power in whole per cent; with decimals where it would else seem to lie on the other side of the target."""
    rounded = round(power, 2)
    misleads = (rounded >= target) != (power >= target)
    return f"{percents_apart(power, target)[0] if misleads else f'{100 * rounded:.0f}'} %"


def _advice(plan: Plan) -> str:
    if plan.cheapest is None:
        within = " within the budget" if plan.budget else ""
        return f"none of these finds it in {numbers.rate(plan.target)} of cases{within}"
    return f"fewest items that find it in {numbers.rate(plan.target)} of cases: {_size(plan.rows[plan.cheapest])}"


def _size(row: PlanRow) -> str:
    return f"{plural(row.tasks, 'task')} × {plural(row.runs, 'run')}"


def _points(effect: float | None) -> str:
    return UNKNOWN if effect is None else f"{100 * effect:.1f} pp"
