"""Row 8: looking back on a year of nightly runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.performance.bar import Bar
from tests.performance.isolation import folder_of_row
from tests.performance.nights import SMALL, write_nights
from tests.performance.rounds import alternate, seconds

COMMAND = Path(sys.executable).with_name("eval-skills")
LIMIT_S = 2.0

CALLS = {
    "history": ("history",),
    "trend": ("trend", "--skill", "skill-0"),
    "query": ("query", "SELECT skill_id, benchmark_id, avg(score) FROM items GROUP BY ALL"),
}


def measure(*, quick: bool) -> list[Bar]:
    """Whole-process times of `history`, `trend` and `query` over a year, in turn with an interpreter that does nothing."""
    nights, rounds = (60, 3) if quick else (365, 7)
    folder = folder_of_row()
    items = write_nights(folder / "eval-store", nights)
    for call in CALLS.values():
        _run(folder, str(COMMAND), *call)
    taken = alternate(
        {f"{name} s": lambda call=call: seconds(lambda: _run(folder, str(COMMAND), *call)) for name, call in CALLS.items()}
        | {"python -c pass s": lambda: seconds(lambda: _run(folder, sys.executable, "-c", "pass"))},
        rounds,
    )
    over = f"{rounds} calls over {nights * SMALL.suites} runs with {items} items; beside it {taken.spread('python -c pass s')}"
    return [
        Bar(
            row="year",
            what=f"eval-skills {name} over {nights} nights of {SMALL.suites} suites",
            measured=taken.median(f"{name} s"),
            limit=LIMIT_S,
            unit="s",
            detail=f"{taken.spread(f'{name} s')}; {over}",
        )
        for name in CALLS
    ]


def _run(folder: Path, *command: str) -> None:
    environment = os.environ | {"HOME": str(folder)}
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
