"""Every limit is limit_reached by every kind of skill that is a process, and the error says which one it was."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters import Confinement, open_adapter
from eval_skills.adapters.config import Limits
from eval_skills.adapters.sandbox.limits import limit_reached, limited, name_limit
from eval_skills.core.errors import ContractError, InfraError, ItemError, SkillError, SkillTimeout, SkillUnavailable
from eval_skills.core.models import Skill
from tests.adapters.greedy import KINDS, asked_for, greedy_skill
from tests.adapters.programs import PATIENCE_S
from tests.tables import each_row

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are enforced on Linux only")

MEMORY = Limits(memory_mb=64)


async def outcome(skill: Skill, given: Any, confinement: Confinement) -> Any:
    """The output of one call, or its error."""
    async with open_adapter(skill, confinement=confinement) as adapter:
        try:
            return (await adapter.call(given, PATIENCE_S)).output
        except ItemError as error:
            return error


CROSSINGS = {
    "memory": (Confinement(memory_mb=256), "memory limit of 256 MB reached; raise limits.memoryMb and --memory-mb"),
    "files": (Confinement(open_files=64), "limit of 64 open files reached; raise limits.openFiles and --open-files"),
    "cpu": (Confinement(cpu_seconds=1), "CPU limit of 1 s reached; raise limits.cpuSeconds and --cpu-seconds"),
}
QUICK = {(kind, wanted) for kind in ("fresh", "custom") for wanted in ("memory", "files")}


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        pytest.param(kind, wanted, id=f"{kind}-{wanted}", marks=[] if (kind, wanted) in QUICK else [pytest.mark.slow])
        for kind in KINDS
        for wanted in CROSSINGS
    ],
)
async def test_p28_a_limit_strikes_in_every_kind_of_process_and_is_named(kind: str, wanted: str, tmp_path: Path) -> None:
    confinement, message = CROSSINGS[wanted]
    skill = greedy_skill(kind, tmp_path / "skill")
    assert await outcome(skill, asked_for(kind, "little"), confinement) == "modest"
    error = await outcome(skill, asked_for(kind, wanted), confinement)
    assert (type(error), error.kind, error.transient) == (SkillError, "skill", False), error
    assert str(error).startswith(message)
    assert error.latency_ms is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "wanted"),
    [pytest.param("fresh", "stubborn", id="until-it-is-killed"), pytest.param("http", "seen", id="below-a-guard")],
)
async def test_p28_a_skill_that_ignores_the_signal_of_the_cpu_limit_is_told_of_it_too(
    kind: str, wanted: str, tmp_path: Path
) -> None:
    confinement, message = CROSSINGS["cpu"]
    error = await outcome(greedy_skill(kind, tmp_path / "skill"), wanted, confinement)
    assert (type(error), str(error).startswith(message)) == (SkillError, True), error
    assert "after all of its CPU time" in str(error)
    assert "told to end" in (str(error) if kind == "http" else f"{error}{error.logs}")


async def test_the_same_limit_in_the_skills_own_file(tmp_path: Path) -> None:
    skill = greedy_skill("fresh", tmp_path / "skill", limits={"openFiles": 64})
    assert str(await outcome(skill, "files", Confinement())).startswith("limit of 64 open files reached")


@pytest.mark.parametrize("kind", ["fresh", "http"])
async def test_an_answer_longer_than_the_run_allows_is_refused(kind: str, tmp_path: Path) -> None:
    skill = greedy_skill(kind, tmp_path / "skill", maxOutputBytes=100_000)
    error = await outcome(skill, "little", Confinement(max_output_bytes=5))
    assert isinstance(error, ContractError)
    assert "more than 5 bytes (maxOutputBytes); raise adapterConfig.maxOutputBytes and --max-output-bytes" in str(error)


@pytest.mark.parametrize("kind", ["fresh", "custom"])
async def test_so_little_memory_that_nothing_starts_is_a_limit_that_struck(kind: str, tmp_path: Path) -> None:
    """The loader reports it; where the kernel ends a program that it cannot map, the limit is named as what may explain it."""
    error = await outcome(greedy_skill(kind, tmp_path / "skill"), "little", Confinement(memory_mb=1))
    assert error.kind == "skill", error
    if "killed by SIGSEGV" in str(error):
        assert str(error).endswith("(killed by SIGSEGV); limits.memoryMb = 1 was in force")
    else:
        assert type(error) is SkillError
        assert str(error).startswith("memory limit of 1 MB reached; raise limits.memoryMb and --memory-mb")


SEEN = "import resource; print(*(resource.getrlimit(which) for which in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU)))"


@pytest.mark.parametrize("tool", [True, False], ids=["prlimit", "without-prlimit"])
def test_they_hold_from_the_first_moment(tool: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if not tool:
        monkeypatch.setenv("PATH", str(tmp_path))
    words = limited([sys.executable, "-S", "-c", SEEN], Limits(open_files=77, cpu_seconds=30))
    assert (Path(words[0]).name == "prlimit") == (tool and shutil.which("prlimit") is not None)
    assert subprocess.check_output(words, text=True) == "(77, 77) (30, 31)\n"


@pytest.mark.slow
def test_a_limit_is_never_raised_above_what_the_system_allows() -> None:
    program = f"""
import json, resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
from eval_skills.adapters.config import Limits
from eval_skills.adapters.sandbox.limits import limited
print(subprocess.check_output(limited([sys.executable, "-S", "-c", {SEEN!r}], Limits(open_files=5000)), text=True))
"""
    assert subprocess.check_output([sys.executable, "-c", program], text=True).startswith("(100, 100)")


async def test_a_program_that_is_missing_is_no_limit_that_struck(tmp_path: Path) -> None:
    skill = greedy_skill("fresh", tmp_path / "skill", command="no-such-program")
    error = await outcome(skill, "little", Confinement(open_files=64))
    assert (type(error), error.transient) == (InfraError, False)
    assert "no-such-program" in str(error)


@each_row(
    ("limits", "text", "found"),
    [
        pytest.param(MEMORY, "stderr: MemoryError", "memory limit of 64 MB", id="python"),
        pytest.param(MEMORY, "FATAL ERROR: Reached heap limit - JavaScript heap out of memory", "memory limit", id="node"),
        pytest.param(MEMORY, "fatal error: runtime: cannot allocate memory", "memory limit", id="go"),
        pytest.param(MEMORY, "memory allocation of 4096 bytes failed", "memory limit", id="rust"),
        pytest.param(MEMORY, "terminate called after throwing an instance of 'std::bad_alloc'", "memory limit", id="c++"),
        pytest.param(MEMORY, "java.lang.OutOfMemoryError: unable to create native thread", "memory limit", id="java"),
        pytest.param(
            MEMORY, "error while loading shared libraries: libm.so.6: cannot map zero-fill pages", "memory limit", id="loader"
        ),
        pytest.param(MEMORY, "libz.so.1: failed to map segment from shared object", "memory limit", id="loader-of-code"),
        pytest.param(MEMORY, "error while loading shared libraries: libz.so.1: no such file", "", id="library-is-missing"),
        pytest.param(MEMORY, "a memory of old times", "", id="another-memory"),
        pytest.param(Limits(), "MemoryError", "", id="no-limit"),
        pytest.param(
            Limits(open_files=64), "OSError: [Errno 24] Too many open files", "limit of 64 open files", id="python-files"
        ),
        pytest.param(Limits(open_files=64), "Error: EMFILE, open 'x'", "limit of 64 open files", id="node-files"),
        pytest.param(Limits(cpu_seconds=9), "the server ended (killed by SIGXCPU)", "CPU limit of 9 s", id="cpu"),
        pytest.param(Limits(cpu_seconds=9), "the process ended (exit code 152)", "CPU limit of 9 s", id="cpu-passed-on"),
        pytest.param(Limits(cpu_seconds=9), "(killed by SIGKILL after all of its CPU time)", "CPU limit of 9 s", id="ignored"),
        pytest.param(Limits(cpu_seconds=9), "(killed by SIGKILL)", "", id="killed-by-somebody"),
        pytest.param(Limits(cpu_seconds=9), "it talks of SIGXCPU", "", id="not-killed"),
    ],
)
def test_the_limit_behind_a_failure(limits: Limits, text: str, found: str) -> None:
    assert limit_reached(limits, text).startswith(found)
    assert bool(limit_reached(limits, text)) == bool(found)


def test_p12_a_timeout_stays_one_whatever_its_text_says() -> None:
    late = SkillTimeout("no answer within 1 s; MemoryError")
    assert name_limit(late, MEMORY) is late


def test_an_error_keeps_its_time_and_its_logs() -> None:
    error = name_limit(SkillUnavailable("the process ended (exit code 1); MemoryError", latency_ms=5.0, logs="said"), MEMORY)
    assert (error.latency_ms, error.logs, str(error).endswith("(exit code 1); MemoryError")) == (5.0, "said", True)
