"""``eval-skills show``."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from eval_skills.cli.context import current, existing_store
from eval_skills.cli.options import PastResults


def show_command(
    run: Annotated[str, Parameter(help="Run id of the store, or latest")],
    skill: Annotated[str, Parameter(help="Skill of the run: its id, or id@version")],
    task: Annotated[
        str,
        Parameter(
            help="Task of the run, and behind a # which run of it, from 1; without one the first that failed, else the first"
        ),
    ],
    /,
    *,
    store: PastResults = None,
) -> int:
    """Show one item of a run whole: input, expectation, answer and why it was judged so.

    Below the answer stands where it differs from the expected value: words as [-expected-] and {+answered+}, JSON by the path
    of each place. Then reasons, turns, tool calls, files, tokens, cost and time, and the command that asks the skill again.

    Example: eval-skills show latest calculator evaluate-division

    Example: eval-skills show latest calculator@1.0.0 evaluate-division#2
    """
    from eval_skills.cli.output.item import show_item
    from eval_skills.engine.stored_runs.items import find_item, run_items

    items = run_items(existing_store(store), run)
    item = find_item(items, skill, task)
    for remark in items.remarks:
        current().remark(remark)
    show_item(items, item)
    return 0
