"""Row 6: how long the command line takes when it has little or nothing to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.performance.bar import Bar
from tests.performance.isolation import folder_of_row
from tests.performance.rounds import alternate, seconds

COMMAND = Path(sys.executable).with_name("eval-skills")


def measure(*, quick: bool) -> list[Bar]:
    """Whole-process times of `--help` and of `find` over many skills, in turn with an interpreter that does nothing."""
    skills, rounds = (100, 3) if quick else (1000, 7)
    folder = folder_of_row()
    _write_skills(folder / "skills", skills)

    def process_s(*command: str) -> float:
        return seconds(lambda: _run(folder, *command))

    find = (str(COMMAND), "find", "--skills-dir", "skills")
    for command in ((str(COMMAND), "--help"), find):
        process_s(*command)
    taken = alternate(
        {
            "--help s": lambda: process_s(str(COMMAND), "--help"),
            "find s": lambda: process_s(*find),
            "python -c pass s": lambda: process_s(sys.executable, "-c", "pass"),
        },
        rounds,
    )
    floor = f"{rounds} calls; beside it {taken.spread('python -c pass s')}"
    return [
        Bar(
            row="startup",
            what="eval-skills --help, over a bare interpreter",
            measured=taken.median("--help s") - taken.median("python -c pass s"),
            limit=0.25,
            unit="s",
            detail=f"{taken.spread('--help s')}; {floor}",
        ),
        Bar(
            row="startup",
            what=f"eval-skills find over {skills} skills",
            measured=taken.median("find s"),
            limit=1.5,
            unit="s",
            detail=f"{taken.spread('find s')}; {floor}",
        ),
    ]


def _run(folder: Path, *command: str) -> None:
    environment = os.environ | {"HOME": str(folder)}
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)


def _write_skills(folder: Path, count: int) -> None:
    for number in range(count):
        skill = folder / f"skill_{number:04d}"
        skill.mkdir(parents=True)
        (skill / "skill.json").write_text(json.dumps(_skill(skill.name, number)), encoding="utf-8")
        if number % 2:
            (skill / "adapter.config.json").write_text(json.dumps({"persistent": True}), encoding="utf-8")


def _skill(name: str, number: int) -> dict[str, object]:
    return {
        "id": name,
        "name": f"Skill {number}",
        "version": "1.0.0",
        "description": "Answers questions about numbers. Use it when a text asks for one and a model should not guess it.",
        "tags": ["math", "text", f"group-{number % 7}"],
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}, "n": {"type": "integer", "minimum": 0}}},
        "outputSchema": {"type": "object", "properties": {"result": {"type": "string"}}, "required": ["result"]},
        "adapterType": "subprocess",
        "entrypoint": "python3 skill.py",
        "metadata": {"author": "Somebody", "license": "MIT"},
    }
