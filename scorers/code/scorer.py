"""Does a program do what the tests of its task say? The tests and the program run in sandboxes of their own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import warnings
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from dataclasses import dataclass
from subprocess import SubprocessError
from typing import Annotated, Any

from pydantic import Field

from eval_skills.core.errors import InputError, ScorerError
from eval_skills.core.models import EvalTask, Reason, SkillResponse
from eval_skills.core.text import one_line
from eval_skills.scorers.code.jail import HERE, Bounds, filter_of_calls, jailed, why_no_jail
from eval_skills.scorers.code.programs import programs_of, stub
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score

NAME = "code_tests"
MAX_CODE_BYTES, MAX_ANSWER_BYTES = 1_000_000, 100_000
START_S = 60.0
"""How long both sandboxes may take to start; it does not count as time of the tests."""

STARTED, NO_SOLUTION = b"started", b"no solution"
"""The first line of the tests: both processes run, or that of the solution does not."""

_NOT_STARTED = "the sandbox that the code runs in did not start"
_SAID_CHARS = 300


@scorer(NAME, folder=HERE)
@dataclass(frozen=True, slots=True, kw_only=True)
class CodeTests:
    """1 where the code of the answer passes the task's Python tests, else 0, with the test that failed.

    The answer is Python, with or without text around fenced blocks (`programs_of`), or an object's ``code``. With `prompt` and
    `entry_point` (HumanEval) it may be the body that continues the prompt, or the whole function; the tests define
    ``check(candidate)``. Without (MBPP) the tests are assertions on the functions that the answer defines, after `setup`; then
    `entry_point` is needed only where the function is called like one of Python's own and the tests call others of those, too.

    The code runs in a sandbox with nothing but Python's standard library, the tests in another one: the code is called through a
    pipe, so it can neither end the tests nor change what they compare; it returns plain data, and does not share objects with
    them. `timeout_ms` bounds the tests from when both sandboxes run, `memory_mb` each. Code that runs into a limit fails, and so
    does code that ends its process where the tests expect an exception, or raises StopIteration, which would end their loops.

    Raises:
        InputError: there are no tests, they are not Python, or only one of `prompt` and `entry_point` is given.
    """

    test: str
    entry_point: str = ""
    prompt: str = ""
    setup: str = ""
    timeout_ms: Annotated[int, Field(gt=0, le=600_000)] = 10_000
    memory_mb: Annotated[int, Field(ge=64, le=65_536)] = 1_024
    task: EvalTask

    def __post_init__(self) -> None:
        if not self.test.strip():
            raise InputError("there are no tests", path="test")
        if self.prompt and not self.entry_point:
            raise InputError("a prompt is continued to a function; name it in entryPoint", path="prompt")
        for name, code in (("test", self.test), ("setup", self.setup)):
            try:
                with warnings.catch_warnings(action="ignore"):  # such as of "\\d", which is a matter of its author
                    compile(code, name, "exec")
            except (SyntaxError, ValueError) as error:
                raise InputError(f"is not Python: {error}", path=name) from None

    async def score(self, response: SkillResponse) -> Score:
        """Run the tests.

        Raises:
            ScorerError: no sandbox works here, or one did not start; or the tests themselves cannot be run.
        """
        programs = programs_of(response.output, self.prompt, self.entry_point, self.setup)
        if len(programs[0][1].encode(errors="replace")) > MAX_CODE_BYTES:
            return _failed(f"the code has more than {MAX_CODE_BYTES:,} bytes")
        request = {
            "entryPoint": self.entry_point, "prompt": stub(self.prompt) if self.prompt else "", "setup": self.setup,
            "test": self.test, "programs": programs,
        }  # fmt: skip
        verdict = await self._verdict(request)
        if "broken" in verdict:
            raise ScorerError(f"the tests of the task cannot be run: {one_line(str(verdict['broken']), 500)}")
        return Score(1.0) if verdict.get("passed") is True else _failed(one_line(str(verdict.get("failed")), 500))

    async def _verdict(self, request: dict[str, Any]) -> dict[str, Any]:
        if problem := await asyncio.to_thread(why_no_jail):
            raise ScorerError(f"code runs in a sandbox only: {problem}")
        bounds = Bounds(cpu_s=max(1, -(-self.timeout_ms // 1000)), memory_mb=self.memory_mb)
        started = False
        try:
            async with asyncio.timeout(START_S) as limit, _sandboxes(bounds) as (tests, solution):
                await _ask(tests, request)
                await _wait_for_start(tests, solution)
                started = True
                limit.reschedule(asyncio.get_running_loop().time() + self.timeout_ms / 1000)
                return await _answer(tests)
        except TimeoutError:
            if not started:
                raise ScorerError(f"{_NOT_STARTED} within {START_S:g} s") from None
            return {"failed": f"the tests did not end within {self.timeout_ms} ms"}
        except (OSError, SubprocessError) as error:
            raise ScorerError(f"{_NOT_STARTED}: {error}") from None


@contextlib.asynccontextmanager
async def _sandboxes(bounds: Bounds) -> AsyncIterator[tuple[Process, Process]]:
    """The process of the tests and that of the solution; both are gone afterwards."""
    asked, calls = os.pipe()
    returned, answers = os.pipe()
    started: list[Process] = []
    try:
        with filter_of_calls() as filters:
            solution = await asyncio.create_subprocess_exec(
                *jailed("solution.py", files_mb=bounds.files_mb, seccomp=next(iter(filters), None)), stdin=asked, stdout=answers,
                stderr=PIPE, env={}, start_new_session=True, preexec_fn=bounds.apply, pass_fds=filters,
            )  # fmt: skip
        started.append(solution)
        tests = await asyncio.create_subprocess_exec(
            *jailed("tests_host.py", str(calls), str(returned), files_mb=bounds.files_mb), stdin=PIPE, stdout=PIPE,
            stderr=PIPE, env={}, start_new_session=True, preexec_fn=bounds.apply, pass_fds=(calls, returned),
            limit=MAX_ANSWER_BYTES,
        )  # fmt: skip
        started.append(tests)
        for end in (asked, calls, returned, answers):
            os.close(end)
        asked = calls = returned = answers = -1
        yield tests, solution
    finally:
        for end in (asked, calls, returned, answers):
            if end >= 0:
                os.close(end)
        for process in started:
            await _end(process)


async def _ask(tests: Process, request: dict[str, Any]) -> None:
    assert tests.stdin is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it ended early, which its missing lines tell
        tests.stdin.write(json.dumps(request).encode() + b"\n")
        await tests.stdin.drain()
        tests.stdin.close()


async def _wait_for_start(tests: Process, solution: Process) -> None:
    """Both say that they run before anything of the answer is, so nothing that it does can look like a sandbox that failed.

    Raises:
        ScorerError: one of them does not.
    """
    assert tests.stdout is not None
    said = (await tests.stdout.readline()).strip()
    if said == STARTED:
        return
    process = solution if said == NO_SOLUTION else tests
    assert process.stderr is not None
    words = " ".join((await process.stderr.read()).decode(errors="replace").split())[-_SAID_CHARS:]
    raise ScorerError(f"{_NOT_STARTED}: {words or 'its process ended without a word'}; see eval-skills doctor")


async def _answer(tests: Process) -> dict[str, Any]:
    assert tests.stdout is not None
    line = await tests.stdout.readline()
    try:
        found = json.loads(line)
    except ValueError:
        return {"failed": "the tests ran into a limit of time or memory, or ended without a verdict"}
    return found if isinstance(found, dict) else {}


async def _end(process: Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()  # all that is in its sandbox ends with it
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(5):
            for pipe in (process.stdout, process.stderr):  # a full one would be waited for, and each is closed at its end
                while pipe is not None and await pipe.read(MAX_ANSWER_BYTES):
                    pass
            await process.wait()
            await asyncio.sleep(0)


def _failed(why: str) -> Score:
    return Score(0.0, reasons=(Reason(code="CODE_TESTS_FAILED", message=why, where="output"),))
