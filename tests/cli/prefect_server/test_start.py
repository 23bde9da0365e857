"""How soon a private server is started: what is imported before it is waited for twice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples" / "skills"
CALL = """
import sys
from eval_skills.cli.main import call
code = call(sys.argv[1:])
print(code, *sorted({"numpy", "pandas", "prefect"} & sys.modules.keys()))
"""


@pytest.mark.slow  # a process that imports the command line
def test_no_heavy_import_comes_before_the_server(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("a file: the call ends where it would start its server")
    skill = str(EXAMPLES / "calculator")
    ended = subprocess.run(
        [sys.executable, "-c", CALL, "eval", "--skills", skill, "--benchmark", "coding-easy", "--output-dir", str(tmp_path)],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PREFECT_API_URL"} | {"PREFECT_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "PREFECT_HOME" in ended.stderr
    assert ended.stdout.split() == ["2"]
