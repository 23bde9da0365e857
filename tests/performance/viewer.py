"""Row: the viewer over two million items."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from time import perf_counter, sleep

import psutil

from tests.performance.bar import Bar
from tests.performance.isolation import folder_of_row
from tests.performance.nights import LARGE, write_nights

COMMAND = Path(sys.executable).with_name("eval-skills")
BROWSER_S = 1.0
"""So long a browser takes until it asks; the viewer makes its first page meanwhile."""

LIMITS_S = {"the first page": 1.0, "a run": 1.0, "a task in every run": 4.0, "the skills": 2.0}
LIMIT_MB = 600.0


def measure(*, quick: bool) -> list[Bar]:
    """How long each page takes, asked for once, and the memory of the server after all of them."""
    nights = 60 if quick else 500
    folder = folder_of_row()
    items = write_nights(folder / "eval-store", nights, LARGE)
    over = f"{nights} runs with {items:,} items"
    command = [str(COMMAND), "view", "--no-open", "--store", str(folder / "eval-store")]
    environment = os.environ | {"HOME": str(folder), "PYTHONUNBUFFERED": "1"}
    began = perf_counter()
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as viewer:
        try:
            assert viewer.stdout is not None
            found = re.search(r"http://\S+/", viewer.stdout.readline())
            assert found is not None
            address, started = found[0], perf_counter() - began
            sleep(BROWSER_S)
            taken = _pages(address)
            used = psutil.Process(viewer.pid).memory_info().rss / 1e6
        finally:
            viewer.terminate()
    detail = f"over {over}; the address was printed after {started:.2f} s, the first page asked for {BROWSER_S:g} s later"
    bars = [
        Bar(row="viewer", what=f"eval-skills view: {name}", measured=taken[name], limit=limit, unit="s", detail=detail)
        for name, limit in LIMITS_S.items()
    ]
    memory = Bar(row="viewer", what="eval-skills view: memory after these", measured=used, limit=LIMIT_MB, unit="MB", detail=over)
    return [*bars, memory]


def _pages(address: str) -> dict[str, float]:
    taken: dict[str, float] = {}

    def asked(name: str, page: str) -> str:
        began = perf_counter()
        with urllib.request.urlopen(f"{address}{page}") as answer:
            text: str = answer.read().decode()
        taken[name] = perf_counter() - began
        return text

    first = asked("the first page", "index.html")
    run = asked("a run", _named(r"run-\w+-\w+\.html", first))
    asked("a task in every run", _named(r"task-[-\w]+\.html", run))
    asked("the skills", "skills.html")
    return taken


def _named(pattern: str, page: str) -> str:
    found = re.search(pattern, page)
    assert found is not None, pattern
    return found[0]
