"""A row's own process: nothing imported before, memory of its own, a private Prefect home, and an end after its time."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.performance.bar import Bar, from_json
from tests.performance.rows import ROWS, Row

ROOT = Path(__file__).parents[2]
_SAID_CHARACTERS = 300


def measure_apart(row: Row, *, quick: bool) -> list[Bar]:
    """The row's bars, from a child process; a child that fails or takes too long gives one bar that is not measured."""
    with TemporaryDirectory(prefix="eval-skills-benchmark-") as folder:
        answer = Path(folder) / "bars.json"
        command = [sys.executable, "-m", "tests.performance.isolation", row.name, str(answer), *(["--quick"] if quick else [])]
        log = Path(folder) / "log.txt"
        why = _run(command, _environment(Path(folder)), log, row.limit_s)
        if why is None:
            return [from_json(data) for data in json.loads(answer.read_text(encoding="utf-8"))]
        said = log.read_text(encoding="utf-8", errors="replace").strip()[-_SAID_CHARACTERS:]
        return [Bar(row=row.name, what="the whole row", measured=None, limit=0, detail=f"{why}: {' '.join(said.split())}")]


def _run(command: list[str], environment: dict[str, str], log: Path, limit_s: float) -> str | None:
    """Why the command did not succeed, or None. It leads a session, so that nothing of it outlives its time."""
    with log.open("wb") as stream:
        child = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=stream, stderr=stream, start_new_session=True)
        try:
            code = child.wait(limit_s)
        except subprocess.TimeoutExpired:
            return f"not done after {limit_s:g} s"
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
    return None if code == 0 else f"ended with exit code {code}"


def _environment(folder: Path) -> dict[str, str]:
    """The caller's environment without its own settings; no Prefect server that happens to run is found or used."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "EVAL_SKILLS_"))}
    private = {
        "PREFECT_HOME": str(folder / "prefect"),
        "PREFECT_SERVER_API_PORT": str(_unused_port()),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "BENCHMARK_ROW_FOLDER": str(folder),
    }
    return inherited | private


def _unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def folder_of_row() -> Path:
    """The temporary folder of the row that this process measures."""
    return Path(os.environ["BENCHMARK_ROW_FOLDER"])


def _main(name: str, answer: str, *, quick: bool) -> None:
    bars = ROWS[name].measure(quick=quick)
    Path(answer).write_text(json.dumps([bar.to_json() for bar in bars]), encoding="utf-8")


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2], quick="--quick" in sys.argv[3:])
