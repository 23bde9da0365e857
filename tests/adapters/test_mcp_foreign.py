"""Servers that nobody here wrote, where an interpreter that has them is named."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from eval_skills.core.errors import SkillError
from tests.adapters.mcp_probe import Tools, ask, mcp_skill

VARIABLE = "EVAL_SKILLS_TEST_MCP_PYTHON"


def server(module: str, words: str = "") -> str:
    """The command of a server that the named interpreter can import; skips where there is none."""
    python = os.environ.get(VARIABLE, "")
    if not python:
        pytest.skip(f"set {VARIABLE} to a Python that has {module.replace('_', '-')} (pip install it into a venv of its own)")
    if subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode:
        pytest.skip(f"{VARIABLE} = {python} cannot import {module}; install {module.replace('_', '-')} there")
    return f"{shlex.quote(python)} -m {module} {words}"


async def test_the_time_server_tells_the_time(tmp_path: Path) -> None:
    async with Tools(mcp_skill(tmp_path, server("mcp_server_time"), "get_current_time")) as tools:
        assert (await tools.use("get_current_time", {"timezone": "Europe/Berlin"}))["timezone"] == "Europe/Berlin"
        noon = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
        assert (await tools.use("convert_time", noon))["time_difference"] == "+9.0h"
        with pytest.raises(SkillError, match="Nowhere"):
            await tools.use("get_current_time", {"timezone": "Europe/Nowhere"})


async def test_the_git_server_reads_a_repository(tmp_path: Path) -> None:
    command = server("mcp_server_git")
    for words in (["init", "-q"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    answer = await ask(mcp_skill(tmp_path, command, "git_log"), {"repo_path": str(tmp_path)})
    assert "first" in str(answer.output)
