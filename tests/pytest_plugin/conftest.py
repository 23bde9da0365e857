"""A team's project: a skill that says what it is told, and a benchmark for it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pandas  # noqa: F401 - what is imported here, a run inside this process need not import anew
import pyarrow.dataset  # noqa: F401
import pytest

SKILL = """
import json, pathlib, sys
for line in sys.stdin:
    request = json.loads(line)
    asked = request["params"]
    with pathlib.Path("calls.log").open("a") as log:
        print(asked["task"], file=log)
    reply = {"error": {"code": 1, "message": asked["say"]}} if asked["task"] == "broken" else {"result": asked["say"]}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}), flush=True)
"""
NAMED = "--disable-plugin-autoload -p xdist -p pytest_asyncio.plugin -p eval_skills.pytest_plugin.plugin"
INI = f"""[pytest]
addopts = {NAMED}
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
"""
"""Plugins of what is installed beside pytest are left out: LangSmith's alone takes half a second, to look for them a tenth."""

Project = Callable[..., pytest.Pytester]


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Writes the project: every task expects "4"; by task, what the skill says. The tool rm is forbidden in ``rogue``."""
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        monkeypatch.delenv(name, raising=False)

    def write(**says: Any) -> pytest.Pytester:
        pytester.makeini(INI)
        folder = pytester.mkdir("skill")
        (folder / "skill.py").write_text(SKILL)
        described = {
            "id": "sayer", "name": "Sayer", "version": "1.0.0", "adapterType": "subprocess",
            "entrypoint": f"{sys.executable} -ISs skill.py", "adapterConfig": {"persistent": True},
        }  # fmt: skip
        (folder / "skill.json").write_text(json.dumps(described))
        tasks = [
            {
                "id": task, "inputData": {"task": task, "say": say}, "expectedOutput": {"value": "4"},
                "expected": {"forbiddenTools": ["rm"]} if task == "rogue" else None,
            }
            for task, say in says.items()
        ]  # fmt: skip
        benchmark = {"id": "sums", "name": "Sums", "version": "1.0.0", "tasks": tasks}
        (pytester.path / "sums.json").write_text(json.dumps(benchmark))
        return pytester

    return write
