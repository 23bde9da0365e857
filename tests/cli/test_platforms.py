"""Where it does not run, it says so before it imports what is not there."""

from __future__ import annotations

import subprocess
import sys

import pytest

ON_WINDOWS = "import sys; sys.platform = 'win32'; sys.modules['fcntl'] = sys.modules['resource'] = None"


@pytest.mark.parametrize(
    ("program", "code", "said"),
    [
        pytest.param("from eval_skills.cli.__main__ import main; main()", 2, "eval-skills: runs on Linux", id="command"),
        pytest.param("import eval_skills; eval_skills.evaluate", 1, "ImportError: eval-skills runs on Linux", id="python"),
    ],
)
def test_on_windows_one_line_says_where_it_runs(program: str, code: int, said: str) -> None:
    called = subprocess.run([sys.executable, "-c", f"{ON_WINDOWS}\n{program}"], capture_output=True, text=True, check=False)
    last = called.stderr.splitlines()[-1]
    assert (called.returncode, last.startswith(said), "WSL" in last) == (code, True, True), called.stderr
