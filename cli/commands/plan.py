"""``eval-skills plan``."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from eval_skills.cli.configuration import Mark
from eval_skills.cli.context import current, existing_store, print_json
from eval_skills.cli.options import SHOWN, PastResults, decimal, whole
from eval_skills.core.errors import UsageError


def plan_command(
    *,
    effect: Annotated[
        float, Parameter(group=SHOWN, converter=decimal, help="The loss of completion to find: 0.05 is five points")
    ] = 0.05,
    power: Annotated[float, Parameter(group=SHOWN, converter=decimal, help="How often to find it")] = 0.8,
    skills: Annotated[int, Parameter(group=SHOWN, converter=whole, help="How many skills are compared at once")] = 1,
    tasks: Annotated[
        int | None,
        Parameter(group=SHOWN, converter=whole, help="Only this number of tasks [default: 10 to 200]"),
    ] = None,
    budget: Annotated[
        str | None, Parameter(group=SHOWN, help="What one evaluation may use: 20usd, 2h, 90min or 10000tokens")
    ] = None,
    from_: Annotated[
        str | None,
        Mark.ID_OR_PATH,
        Parameter(
            group=SHOWN,
            name="--from",
            help="Take rate, flakiness, cost and latency from this run: its id, the beginning of it, or latest",
        ),
    ] = None,
    base_rate: Annotated[
        float | None, Parameter(group=SHOWN, converter=decimal, help="The completion rate now [default: the run's, else 0.8]")
    ] = None,
    flakiness: Annotated[
        float | None,
        Parameter(group=SHOWN, converter=decimal, help="How often two runs of one task differ [default: the run's, else 0.1]"),
    ] = None,
    check: Annotated[
        str | None,
        Mark.ID_OR_PATH,
        Parameter(group=SHOWN, help="Instead: how often report diff --fail-on worse is wrong on runs like this one, or latest"),
    ] = None,
    store: PastResults = None,
) -> int:
    """Say how many tasks and runs an evaluation needs, before it is run.

    Every choice of tasks and runs is simulated with the verdict's own test, Holm's adjustment for --skills included. What tasks
    are like, and what an item costs and takes, comes from a stored run. The smallest effect is the one that is found in 80 %.

    Example: eval-skills plan --effect 0.05 --from latest --budget 20usd

    Example: eval-skills plan --effect 0.1 --base-rate 0.9 --tasks 50

    Example: eval-skills plan --check latest
    """
    from eval_skills.cli.output.plan import show_check, show_plan
    from eval_skills.engine.planning.plan import check_gate, make_plan, read_sample

    if check is not None and from_ is not None:
        raise UsageError("--check and --from exclude each other; give one of them")
    given = check if check is not None else from_
    sample = None if given is None else read_sample(existing_store(store), given)
    if check is not None and sample is not None:
        checked = check_gate(sample, flakiness=flakiness)
        print_json(checked.to_json()) if current().json else show_check(checked)
        return 0
    plan = make_plan(
        effect=effect,
        target=power,
        skills=skills,
        sample=sample,
        base_rate=base_rate,
        flakiness=flakiness,
        tasks=tasks,
        budget=budget,
        concurrency=current().config({}).concurrency,
    )
    print_json(plan.to_json()) if current().json else show_plan(plan)
    return 0
