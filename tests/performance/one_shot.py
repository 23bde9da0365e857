"""Row 2: what evaluating one-shot processes costs beyond the processes and Prefect."""

from __future__ import annotations

from tests.performance.bar import Bar
from tests.performance.bare_processes import bare_s
from tests.performance.isolation import folder_of_row
from tests.performance.rounds import alternate
from tests.performance.server import settle, warm_server
from tests.performance.subjects import echo_skill, evaluation


def measure(*, quick: bool) -> list[Bar]:
    """The flow `evaluate` over one-shot processes against the bare processes plus a flow of as many idle task runs."""
    items, rounds = (60, 3) if quick else (200, 5)
    folder = folder_of_row()
    with warm_server() as server:
        from tests.performance.prefect_flows import evaluated, idle

        skill = echo_skill(folder, persistent=False)

        def eval_s(count: int) -> float:
            summary, duration = evaluated(evaluation(folder, skill, count))
            settle(server, summary.flow_runs[0], summary.task_runs)
            return duration

        def idle_s(count: int) -> float:
            timed = idle(count)
            settle(server, timed.flow_run, count)
            return timed.seconds

        eval_s(8), idle_s(8), bare_s(skill, 8)  # the first of each pays for imports and caches
        taken = alternate(
            {"eval s": lambda: eval_s(items), "bare s": lambda: bare_s(skill, items), "Prefect s": lambda: idle_s(items)}, rounds
        )
    made_of = ", ".join(taken.spread(name) for name in taken.figures)
    return [
        Bar(
            row="one_shot",
            what=f"eval of {items} one-shot processes over bare + Prefect",
            measured=taken.ratio("eval s", "bare s", "Prefect s"),
            limit=1.3,
            detail=f"{made_of}; 4 at a time",
        )
    ]
