"""Rows: looking back on a year of nightly runs, and on two million items."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.performance.bar import Bar
from tests.performance.isolation import folder_of_row
from tests.performance.nights import LARGE, SMALL, write_nights
from tests.performance.rounds import alternate, seconds

COMMAND = Path(sys.executable).with_name("eval-skills")
MOST_TIMES, LARGE_LIMIT_S, LARGE_LIMIT_MB = 4.0, 3.0, 500.0
FLOOR = "query SELECT 1 s"

CALLS = {
    "history": ("history",),
    "trend": ("trend", "--skill", "skill-0"),
    "query": ("query", "SELECT skill_id, benchmark_id, avg(score) FROM items GROUP BY ALL"),
}


def measure(*, quick: bool) -> list[Bar]:
    """Whole-process times of `history`, `trend` and `query` over a year, in turn with a query of an empty store."""
    nights, large, rounds = (60, 60, 3) if quick else (365, 500, 7)
    folder = folder_of_row()
    items = write_nights(folder / "year" / "eval-store", nights)
    million = write_nights(folder / "large" / "eval-store", large, LARGE)
    (folder / "empty" / "eval-store").mkdir(parents=True)
    taken = alternate(
        {FLOOR: lambda: seconds(lambda: _run(folder / "empty", "query", "SELECT 1"))}
        | {f"{name} s": lambda call=call: seconds(lambda: _run(folder / "year", *call)) for name, call in CALLS.items()},
        rounds,
    )
    over = f"{rounds} calls over {nights * SMALL.suites} runs with {items:,} items; beside it {taken.spread(FLOOR)}"
    ratios = [
        Bar(
            row="year",
            what=f"eval-skills {name} over {nights} nights of {SMALL.suites} suites, against SELECT 1",
            measured=taken.ratio(f"{name} s", FLOOR),
            limit=MOST_TIMES,
            detail=f"{taken.spread(f'{name} s')}; {over}",
        )
        for name in CALLS
    ]
    return [*ratios, *_large_bars(folder / "large", f"{large} runs with {million:,} items")]


def _large_bars(folder: Path, over: str) -> list[Bar]:
    """The slowest of the commands over the large store, each called twice, and the most memory of one."""
    figures = {name: min(_measured(folder, *call) for _ in range(2)) for name, call in CALLS.items()}
    slowest = max(figures, key=lambda name: figures[name])
    detail = "; ".join(f"{name} {took:.2f} s, {used:.0f} MB" for name, (took, used) in figures.items())
    most = max(used for _, used in figures.values())
    return [
        Bar(
            row="year",
            what=f"eval-skills {slowest} over {over}",
            measured=figures[slowest][0],
            limit=LARGE_LIMIT_S,
            unit="s",
            detail=detail,
        ),
        Bar(row="year", what=f"memory of these over {over}", measured=most, limit=LARGE_LIMIT_MB, unit="MB", detail=detail),
    ]


_WATCH = """\
import resource, subprocess, sys, time
began = time.perf_counter()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""A small process that starts the command: the system counts for a child, too, what the process held that started it."""


def _measured(folder: Path, *arguments: str) -> tuple[float, float]:
    """How long one call takes, in s, and the most memory of its process, in MB."""
    watch = [sys.executable, "-c", _WATCH, str(COMMAND), *arguments]
    printed = subprocess.run(watch, cwd=folder, env=_environment(folder), capture_output=True, check=True, text=True).stdout
    took, used = map(float, printed.split())
    return took, used * (1 if sys.platform == "darwin" else 1024) / 1e6


def _run(folder: Path, *arguments: str) -> None:
    subprocess.run([str(COMMAND), *arguments], cwd=folder, env=_environment(folder), capture_output=True, check=True)


def _environment(folder: Path) -> dict[str, str]:
    return os.environ | {"HOME": str(folder)}
