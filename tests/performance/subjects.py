"""What the rows evaluate: generated skills and benchmarks, and an adapter that does nothing."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

from eval_skills.adapters import Adapter, Call, register_adapter, registry
from eval_skills.core.models import SkillResponse
from eval_skills.engine.definition.request import EvaluateRequest

ANSWER = "done"
NOOP_TYPE = "custom"

ECHO_PROGRAM = """\
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": "done"}), flush=True)
"""
"""One program for both ways: it answers line after line until its input ends."""


class NoOpAdapter(Adapter):
    """Answers at once with what the generated tasks expect."""

    async def _invoke(self, input_data: Any, call: Call) -> SkillResponse:
        return SkillResponse(output=ANSWER)


def register_noop() -> None:
    """Let `NoOpAdapter` call the skills of one adapter type, in this process.

    A skill's type must be one of the known ones, so the type's own adapter, which no row needs, makes way.
    """
    registry._ADAPTERS.pop(NOOP_TYPE, None)
    register_adapter(NOOP_TYPE, NoOpAdapter)


def noop_skill(folder: Path) -> Path:
    """A skill whose adapter returns at once."""
    return _skill(folder / "noop", {"adapterType": NOOP_TYPE, "entrypoint": "nothing:nothing"})


def echo_skill(folder: Path, *, persistent: bool) -> Path:
    """A skill that is a Python program: a fresh process for every item, or one warm worker for each slot."""
    entry = {"adapterType": "subprocess", "entrypoint": f"{shlex.quote(sys.executable)} skill.py"}
    config: dict[str, Any] = {"adapterConfig": {"persistent": True}} if persistent else {}
    skill = _skill(folder / ("persistent" if persistent else "one_shot"), entry | config)
    (skill / "skill.py").write_text(ECHO_PROGRAM, encoding="utf-8")
    return skill


def benchmark(folder: Path, tasks: int) -> Path:
    """A benchmark of so many tasks, each expecting `ANSWER` exactly."""
    path = folder / f"benchmark-{tasks}.json"
    expected = {"type": "exact", "value": ANSWER}
    listed = [{"id": f"t{n:05d}", "inputData": {"n": n}, "expectedOutput": expected} for n in range(tasks)]
    path.write_text(json.dumps({"id": "speed", "name": "Speed", "version": "1.0.0", "tasks": listed}), encoding="utf-8")
    return path


def evaluation(folder: Path, skill: Path, tasks: int, **options: Any) -> EvaluateRequest:
    """A request to evaluate `skill` on so many tasks, four at a time, without report files, into a store in `folder`."""
    defaults: dict[str, Any] = {"concurrency": 4, "format": [], "store": str(folder / "store")}
    return EvaluateRequest(skills=[str(skill)], benchmark=str(benchmark(folder, tasks)), **(defaults | options))


def _skill(folder: Path, parts: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"id": folder.name, "name": folder.name, "version": "1.0.0"} | parts)
    (folder / "skill.json").write_text(text, encoding="utf-8")
    return folder
