"""Row 8: one match of two trajectories of 10 messages and 4 calls, beside agentevals on the same pair."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.performance.bar import Bar
from tests.performance.rival_environment import installed
from tests.performance.rounds import Rounds, alternate

VERSION = "0.0.9"
PROGRAM = Path(__file__).with_name("trajectory_program.py")
LIMIT_S = 120.0


def measure(*, quick: bool) -> list[Bar]:
    """Processor time per match, the slowest mode, and the share of it in agentevals' time; each process in turn."""
    matches, rounds = (200, 3) if quick else (1000, 7)
    rival = installed("agentevals", VERSION, "agentevals-venv")
    measures = {"ours µs": lambda: _slowest_us(Path(sys.executable), "eval_skills.scorers.trajectory", matches)}
    if isinstance(rival, Path):
        measures["agentevals µs"] = lambda: _slowest_us(rival, "agentevals.trajectory.match", matches)
    taken = alternate(measures, rounds)
    return [_own_bar(taken, matches), _rival_bar(taken, rival)]


def _slowest_us(python: Path, module: str, matches: int) -> float:
    # tracing off: theirs would otherwise look for a server
    environment = os.environ | {"LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false"}
    command = [str(python), str(PROGRAM), module, str(matches)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=LIMIT_S)
    return float(max(json.loads(done.stdout.splitlines()[-1]).values()))


def _own_bar(taken: Rounds, matches: int) -> Bar:
    return Bar(
        row="trajectory",
        what="trajectory match, 10 messages, 4 calls",
        measured=taken.median("ours µs"),
        limit=60,
        unit="µs",
        detail=f"{taken.spread('ours µs')} of CPU per match, the best tenth of {matches}, the slowest mode",
    )


def _rival_bar(taken: Rounds, rival: Path | str) -> Bar:
    measured = isinstance(rival, Path)
    return Bar(
        row="trajectory",
        what="the same over agentevals' time",
        measured=taken.ratio("ours µs", "agentevals µs") if measured else None,
        limit=1.0,
        detail=f"{taken.spread('agentevals µs')}; agentevals {VERSION}, the same pair" if measured else f"not measured: {rival}",
    )
