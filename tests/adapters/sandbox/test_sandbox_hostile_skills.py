"""What a hostile skill can do inside the sandbox: nothing that lasts."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from eval_skills.core.errors import SkillTimeout
from tests.adapters.programs import ONE_SHOT, in_time
from tests.adapters.sandboxed import TRY, MakeSkill, ask, needs_sandbox, sandboxed

FAMILY = """
import subprocess
def leave(mark):
    daemon = "import os, subprocess, sys; os.setsid(); subprocess.Popen(['sleep', sys.argv[1]])"
    subprocess.run([sys.executable, "-S", "-c", daemon, mark])
    subprocess.Popen(["sleep", mark], start_new_session=True)
    return "left"
"""


def sleeping(mark: str) -> list[str]:
    """The processes that still sleep for `mark` seconds; waits for a moment for none."""
    end = time.monotonic() + 60
    while (found := _sleeping(mark)) and time.monotonic() < end:
        time.sleep(0.01)
    return found


def _sleeping(mark: str) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"sleep", mark.encode()]:
            found.append(process.name)
    return found


@pytest.fixture
def mark() -> str:
    """A time to sleep that nobody else sleeps for."""
    return f"600.{time.time_ns()}"


@needs_sandbox
async def test_p73_a_hostile_skill_sees_and_changes_nothing(program_skill: MakeSkill, tmp_path_factory: Any) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "secret").write_text("of the user")
    private = Path(f"/tmp/written-{time.time_ns()}")
    source = f"""
        places = ["~", "/run", {str(elsewhere)!r}, {str(Path.cwd())!r}]
        seen = {{
            "files": [tried(lambda: sorted(os.listdir(os.path.expanduser(place)))) for place in places],
            "secret": tried(lambda: open({str(elsewhere / "secret")!r}).read()),
            "root": tried(lambda: open("/written-by-a-skill", "w").close()),
            "system": tried(lambda: open("/usr/written-by-a-skill", "w").close()),
            "beside": tried(lambda: open("written", "w").close()),
            "own": sorted(os.listdir(".")),
            "tmp": tried(lambda: open({str(private)!r}, "w").close()),
            "processes": [int(name) for name in os.listdir("/proc") if name.isdigit()],
        }}
        print(reply(seen))
    """
    seen = await ask(program_skill(ONE_SHOT + TRY + textwrap.dedent(source)))
    for found in seen["files"]:
        assert "secret" not in found[1] if found[0] == "did" else True
        assert not {"README.md", "pyproject.toml", "tests", "benchmarks", "eval-store"} & set(
            found[1] if found[0] == "did" else ()
        )
    assert seen["secret"][0] == seen["root"][0] == seen["system"][0] == seen["beside"][0] == "failed"
    assert seen["own"] == ["skill.py"]
    assert seen["tmp"][0] == "did"
    assert not private.exists()
    assert len(seen["processes"]) <= 3


@needs_sandbox
@pytest.mark.parametrize(
    ("declared", "allowed", "reached"),
    [
        pytest.param(False, "declared", False, id="by-default"),
        pytest.param(True, "declared", True, id="declared-by-the-skill"),
        pytest.param(True, "none", False, id="declared-and-refused"),
        pytest.param(False, "all", True, id="allowed-to-all"),
    ],
)
async def test_p73_the_network_is_there_for_whom_it_is_allowed(
    program_skill: MakeSkill, server: Any, declared: bool, allowed: str, reached: bool
) -> None:
    source = (
        ONE_SHOT + TRY + "import socket\nprint(reply(tried(lambda: bool(socket.create_connection(('127.0.0.1', params), 10)))))"
    )
    skill = program_skill(source, **({"network": True} if declared else {}))
    seen = await ask(skill, urlsplit(server.url).port, sandbox_network=allowed)
    assert seen[0] == ("did" if reached else "failed")


@needs_sandbox
async def test_nothing_outlives_the_answer_not_even_a_daemon(program_skill: MakeSkill, mark: str) -> None:
    assert await ask(program_skill(ONE_SHOT + FAMILY + "print(reply(leave(params)))"), mark) == "left"
    assert sleeping(mark) == []


@needs_sandbox
async def test_a_timeout_ends_the_whole_tree(program_skill: MakeSkill, mark: str, tmp_path: Path) -> None:
    skill = program_skill(
        ONE_SHOT + FAMILY + "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nleave(params)\ntime.sleep(600)"
    )

    async def timed_out(limit_s: float) -> bool:
        async with sandboxed(skill) as adapter:
            call = adapter.call(mark, limit_s)
            with pytest.raises(SkillTimeout):
                await call
        return True

    assert await in_time(timed_out, bool)
    assert sleeping(mark) == []
