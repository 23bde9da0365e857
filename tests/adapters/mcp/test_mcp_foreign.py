"""Servers that nobody here wrote, where an interpreter that has them is named."""

from __future__ import annotations

import asyncio
import os
import shlex
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from eval_skills.core.errors import SkillError
from tests.adapters.mcp_probe import Tools, ask, mcp_skill

pytestmark = pytest.mark.slow

VARIABLE = "TEST_MCP_PYTHON"


@cache
def server(module: str, words: str = "") -> str:
    """The command of a server that the named interpreter can import; skips where there is none."""
    python = os.environ.get(VARIABLE, "")
    if not python:
        pytest.skip(f"set {VARIABLE} to a Python that has {module.replace('_', '-')} (pip install it into a venv of its own)")
    if subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode:
        pytest.skip(f"{VARIABLE} = {python} cannot import {module}; install {module.replace('_', '-')} there")
    return f"{shlex.quote(python)} -m {module} {words}"


@contextmanager
def listening(command: str) -> Iterator[str]:
    """The address of a server that takes its port as PORT in the command, once it takes connections."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    words = shlex.split(command.replace("PORT", str(port)))
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 120
        while not accepts(port):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(60)


def accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("words", ["", "--stateless"], ids=["sessions", "stateless"])
async def test_the_time_server_behind_a_proxy_tells_the_time_over_http(tmp_path: Path, words: str) -> None:
    inner = server("mcp_server_time")
    zones = ["Europe/Berlin", "Asia/Tokyo", "UTC"] * 5
    with listening(f"{server('mcp_proxy')} --host 127.0.0.1 --port PORT {words} -- {inner}") as url:
        for protocol in ("auto", "legacy"):
            async with Tools(mcp_skill(tmp_path, url, "get_current_time", protocol=protocol)) as tools:
                answers = await asyncio.gather(*(tools.use("get_current_time", {"timezone": zone}) for zone in zones))
                assert [answer["timezone"] for answer in answers] == zones, protocol
                with pytest.raises(SkillError, match="Nowhere"):
                    await tools.use("get_current_time", {"timezone": "Europe/Nowhere"})


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
