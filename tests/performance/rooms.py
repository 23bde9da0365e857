"""How much of the house one item enters: what somebody who follows it from the command line to its report has to open."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.performance.bar import Bar
from tests.performance.isolation import ROOT, folder_of_row

PROGRAM = Path(__file__).with_name("rooms_program.py")
TASK = {"id": "add", "inputData": {"operation": "evaluate", "expression": "2+3"}, "expectedOutput": {"type": "exact", "value": 5}}


def measure(*, quick: bool) -> list[Bar]:
    """The files and functions of ours that `eval` of one passing task enters, with JSON and HTML reports; `quick` is no less."""
    folder = folder_of_row()
    (folder / "tasks.json").write_text(json.dumps([TASK]), encoding="utf-8")
    skill = str(ROOT / "examples" / "skills" / "calculator")
    command = ["eval", "--skills", skill, "--tasks", "tasks.json", "--exit-on-fail", "--format", "json", "html"]
    answer = folder / "entered.json"
    subprocess.run([sys.executable, str(PROGRAM), str(answer), *command], cwd=folder, check=True)
    entered: dict[str, list[str]] = json.loads(answer.read_text(encoding="utf-8"))
    functions = sum(map(len, entered.values()))
    return [
        Bar(
            row="rooms",
            what="our files that one item enters",
            measured=len(entered),
            limit=110,
            unit="files",
            detail=f"{functions:,} functions; counted, not timed",
        )
    ]
