"""Which signals end a call of the command line."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

CALL = """
import signal, sys
signal.signal(signal.SIGHUP, getattr(signal, sys.argv[1]))
from eval_skills.cli import main
try:
    main.main(["--version"])
finally:
    print(signal.getsignal(signal.SIGHUP) == main._terminate, signal.getsignal(signal.SIGTERM) == main._terminate)
"""


@pytest.mark.parametrize(
    ("started_with", "ends"),
    [
        pytest.param("SIG_DFL", "True True", id="a-terminal-that-closes-ends-the-call"),
        pytest.param("SIG_IGN", "False True", id="under-nohup-the-call-outlives-its-terminal"),
    ],
)
def test_a_closed_terminal(started_with: str, ends: str) -> None:
    done = subprocess.run([sys.executable, "-c", CALL, started_with], capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == ends


def asked(tmp_path: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """``eval-skills query`` in a process of its own, in a project with an empty store."""
    (tmp_path / "eval-store").mkdir()
    command = [sys.executable, "-m", "eval_skills.cli", "query", *arguments]
    return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def interrupted(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    """The exit code and the last line on stderr after Ctrl-C, within a second where the machine has time."""
    process.send_signal(signal.SIGINT)
    try:
        return process.wait(timeout=5), process.communicate()[1].splitlines()[-1]
    finally:
        process.kill()


@pytest.mark.slow
@pytest.mark.parametrize(
    "cpu_s", [pytest.param(0.4, id="while-libraries-are-imported"), pytest.param(2, id="while-the-statement-is-executed")]
)
def test_ctrl_c_ends_a_query(tmp_path: Path, cpu_s: float) -> None:
    process = asked(tmp_path, "SELECT count(*) FROM range(1000000000000)")
    watched = psutil.Process(process.pid)
    while sum(watched.cpu_times()[:2]) < cpu_s:
        assert process.poll() is None
    assert interrupted(process) == (130, b"eval-skills: interrupted")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["--csv", "--json"])
def test_ctrl_c_ends_a_query_whose_answer_nobody_reads(tmp_path: Path, form: str) -> None:
    process = asked(tmp_path, "SELECT range, repeat('x', 50) AS x FROM range(100000)", form)
    assert process.stdout is not None
    assert process.stdout.read(1)
    assert interrupted(process) == (130, b"eval-skills: interrupted")


@pytest.mark.slow
def test_a_query_ends_without_a_word(tmp_path: Path) -> None:
    """DuckDB's objects are looked for at its end: what were left of them it would report, in twenty lines."""
    process = asked(tmp_path, "SELECT 1 AS one")
    assert process.communicate(timeout=180)[1] == b"1 row\n"
    assert process.returncode == 0
