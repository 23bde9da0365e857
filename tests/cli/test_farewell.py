"""Which signals end a call of the command line."""

from __future__ import annotations

import subprocess
import sys

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
