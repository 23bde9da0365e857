"""Row 3: what a warm worker gains over a fresh process for every item."""

from __future__ import annotations

from pathlib import Path

from tests.performance.bar import Bar
from tests.performance.isolation import folder_of_row
from tests.performance.rounds import alternate
from tests.performance.server import settle, warm_server
from tests.performance.subjects import echo_skill, evaluation


def measure(*, quick: bool) -> list[Bar]:
    """Items/s of the flow `evaluate` with a persistent worker against one-shot processes of the same program."""
    items, rounds = (60, 3) if quick else (200, 5)
    folder = folder_of_row()
    fresh, warm = echo_skill(folder, persistent=False), echo_skill(folder, persistent=True)
    with warm_server() as server:
        from tests.performance.prefect_flows import evaluated

        def rate(skill: Path, count: int) -> float:
            summary, duration = evaluated(evaluation(folder, skill, count))
            settle(server, summary.flow_runs[0], summary.task_runs)
            return count / duration

        for skill in (fresh, warm):
            rate(skill, 8)
        taken = alternate(
            {"persistent items/s": lambda: rate(warm, items), "one-shot items/s": lambda: rate(fresh, items)}, rounds
        )
    return [
        Bar(
            row="persistent",
            what=f"items/s of a persistent worker over one-shot, {items} items",
            measured=taken.ratio("persistent items/s", "one-shot items/s"),
            limit=3.0,
            at_least=True,
            detail=", ".join(taken.spread(name) for name in taken.figures) + "; whole flow runs, 4 at a time",
        )
    ]
