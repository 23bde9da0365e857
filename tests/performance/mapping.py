"""Row 1: what the project's task runner adds to Prefect's own cost of a task run."""

from __future__ import annotations

from tests.performance.bar import Bar
from tests.performance.isolation import folder_of_row
from tests.performance.rounds import alternate
from tests.performance.server import settle, warm_server
from tests.performance.subjects import evaluation, noop_skill, register_noop


def measure(*, quick: bool) -> list[Bar]:
    """`.map` of no-op items through the runner against awaiting the same Prefect task as often, in one flow each."""
    items, rounds = (200, 3) if quick else (1000, 5)
    folder = folder_of_row()
    with warm_server() as server:
        from eval_skills.engine.evaluation.plan import RunPlan, make_plan
        from eval_skills.engine.evaluation.session import manifest_of
        from tests.performance.prefect_flows import Timed, awaited, mapped

        register_noop()
        skill = noop_skill(folder)

        def planned(count: int) -> RunPlan:
            plan = make_plan(evaluation(folder, skill, count))
            plan.write_manifest(manifest_of(plan))  # as the flow's first task does
            return plan

        def settled(timed: Timed, count: int) -> float:
            settle(server, timed.flow_run, count)
            return timed.seconds

        for way in (mapped, awaited):  # the first flow of a process pays for everybody's imports
            settled(way(planned(20)), 20)
        taken = alternate(
            {
                "map s": lambda: settled(mapped(planned(items)), items),
                "gather s": lambda: settled(awaited(planned(items)), items),
            },
            rounds,
        )
    return [
        Bar(
            row="mapping",
            what=f".map of {items} no-op items over awaiting the same task",
            measured=taken.ratio("map s", "gather s"),
            limit=1.25,
            detail=f"{taken.spread('map s')}, {taken.spread('gather s')}, 4 at a time; the adapter is a no-op",
        )
    ]
