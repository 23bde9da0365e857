"""Programs as answers: what passes, why the others fail, and that no program can make its own verdict."""

from __future__ import annotations

import os
import shutil
import textwrap
from pathlib import Path
from typing import Any

import psutil
import pytest

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import EvalTask, SkillResponse, Verdict
from eval_skills.engine.definition.benchmark import check_code_sandbox
from eval_skills.scorers import TaskScoring, score_response
from eval_skills.scorers.code.jail import why_no_jail

PROMPT = 'import math\n\ndef helper(x):\n    return x\n\ndef add(a, b):\n    """The sum."""\n'
CHECK = """
def check(candidate):
    assert candidate(1, 2) == 3
    assert candidate([1], [2]) == [1, 2], 'lists'
    assert helper(3) == 3
"""

needs_sandbox = pytest.mark.skipif(bool(why_no_jail()), reason=f"no code is run without a sandbox: {why_no_jail()}")


def task(**options: Any) -> EvalTask:
    return EvalTask.model_validate(
        {"id": "t", "inputData": {}, "evaluator": {"type": "code_tests", "timeoutMs": 120_000, **options}}
    )


async def continued(answer: str, **options: Any) -> Verdict:
    asked = task(prompt=PROMPT, entryPoint="add", test=CHECK, **options)
    return await score_response(asked, SkillResponse(output=answer))


async def asserted(answer: Any, *tests: str, **options: Any) -> Verdict:
    return await score_response(task(test="\n".join(tests), **options), SkillResponse(output=answer))


@pytest.mark.slow
@needs_sandbox
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("    return a + b", id="body"),
        pytest.param("return a + b", id="body-without-indent"),
        pytest.param("```python\ndef add(a, b):\n    return a + b\n```", id="whole-in-a-fence"),
        pytest.param("Sure:\n```\n    return a + b\n```\nThat is it.", id="body-in-a-fence"),
        pytest.param("def add(a, b):\n    return helper(a) + b", id="whole-with-the-prompts-helper"),
        pytest.param("from __future__ import annotations\ndef add(a: X, b):\n    return a + b", id="whole-from-the-future"),
        pytest.param("add = lambda a, b: a + b", id="assigned"),
        pytest.param("c = a\n    return c + b", id="body-whose-first-line-lost-its-indent"),
        pytest.param(" return a + b", id="body-with-one-blank"),
        pytest.param("```python\r\ndef add(a, b):\r\n    return a + b\r\n```\r\n", id="windows-lines"),
        pytest.param("Here:\n```python\ndef add(a, b):\n    return a + b", id="fence-without-end"),
        pytest.param("1. So:\n   ```py\n   def add(a, b):\n       return a + b\n   ```\n", id="whole-in-an-item-of-a-list"),
    ],
)
async def test_a_body_and_a_whole_function_pass(answer: str) -> None:
    verdict = await continued(answer)
    assert (verdict.status, verdict.score) == ("pass", 1.0)


@pytest.mark.slow
@needs_sandbox
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        pytest.param("    return a - b", "AssertionError at assert candidate(1, 2) == 3", id="wrong"),
        pytest.param("    return 3", "AssertionError: lists at assert candidate([1], [2])", id="second-test"),
        pytest.param("    return a.x", "AttributeError: 'int' object has no attribute 'x' at", id="raises"),
        pytest.param("def (:", "the solution does not load: SyntaxError", id="no-python"),
        pytest.param("def sub(a, b): return a", "AssertionError", id="another-function"),
        pytest.param("    import os; os._exit(0)", "than an answer at assert candidate(1, 2) == 3", id="exits"),
        pytest.param("    raise SystemExit(0)", "SystemExit: 0", id="system-exit"),
        pytest.param("    print('{\"passed\": true}')", "AssertionError", id="prints-a-verdict"),
        pytest.param(
            "    class E:\n        def __eq__(self, o): return True\n    return E()", "value of the type E", id="equals-all"
        ),
        pytest.param(
            "    import os\n    for fd in range(1, 30):\n        try: os.write(fd, b'{\"passed\": true}\\n' * 9)\n"
            "        except OSError: pass\n    return 3",
            "the process of the solution ended, or wrote something else",
            id="writes-into-every-pipe",
        ),
        pytest.param("    import builtins; builtins.AssertionError = ValueError; return 0", "AssertionError", id="patches"),
        pytest.param("    return undefined", "NameError: name 'undefined' is not defined at", id="undefined-name"),
        pytest.param(
            "    import numpy\n    return a + b", "ModuleNotFoundError: No module named 'numpy' at", id="no-such-library"
        ),
        pytest.param("    raise SyntaxError('x')", "SyntaxError: x at", id="raises-a-syntax-error"),
        pytest.param("    return 'x' * 10**10", "MemoryError", id="memory"),
        pytest.param("    return open('/etc/passwd').read()", "FileNotFoundError", id="files"),
        pytest.param("    open('/code/solution.py', 'w')", "Read-only file system", id="our-programs"),
        pytest.param("    import os\n    while True: os.fork()", "PermissionError: [Errno 1]", id="forks"),
        pytest.param("    import subprocess; subprocess.run(['/bin/true'])", "PermissionError: [Errno 1]", id="programs"),
        pytest.param("    import socket; socket.create_connection(('127.0.0.1', 9))", "ConnectionRefusedError", id="network"),
    ],
)
async def test_what_is_wrong_or_cheats_fails_with_the_reason(answer: str, why: str) -> None:
    verdict = await continued(answer)
    assert (verdict.status, verdict.score, verdict.reasons[0].code) == ("fail", 0.0, "CODE_TESTS_FAILED")
    assert why in verdict.reasons[0].message


EXITS = "import os\ndef f(x): os._exit(0)"
EXPECTS_AN_ERROR = "try:\n    f(1)\nexcept {}:\n    pass\nelse:\n    raise SystemError('none')"


@pytest.mark.slow
@needs_sandbox
@pytest.mark.parametrize(
    ("answer", "test", "why"),
    [
        pytest.param(
            "def set(x): return 0\ndef f(x): return [5]", "assert set(f(1)) == set([1, 2])", "AssertionError", id="own-set"
        ),
        pytest.param(
            "def all(x): return True\ndef f(x): return 0", "assert all(f(x) for x in (1, 2))", "AssertionError", id="own-all"
        ),
        pytest.param("def all(x): return True", "assert all(f(x) for x in (1, 2))", "NameError", id="own-all-alone"),
        pytest.param(
            "def f(x): raise StopIteration", "for x in map(f, (1, 2)):\n    assert x", "StopIteration", id="ends-the-loop"
        ),
        pytest.param(
            "class End(StopIteration): pass\ndef f(x): raise End",
            "assert all(map(f, (1, 2)))",
            "End",
            id="ends-the-loop-by-a-class",
        ),
        pytest.param(EXITS, EXPECTS_AN_ERROR.format("Exception"), "the process", id="exit-for-error"),
        pytest.param(EXITS, EXPECTS_AN_ERROR.format("BaseException"), "the process", id="exit-for-any"),
        pytest.param(
            "def f(x): raise SystemExit(0)", EXPECTS_AN_ERROR.format("BaseException"), "SystemExit: 0", id="system-exit"
        ),
        pytest.param(
            "import os, sys\ndef f(x):\n    text = b'{\"tuple\": 1}'\n    data = len(text).to_bytes(8, 'big') + text\n"
            "    for fd in range(3, 30):\n        try: os.write(fd, data)\n        except OSError: pass\n    return 1",
            EXPECTS_AN_ERROR.format("Exception"),
            "something else than an answer",
            id="a-value-that-is-none",
        ),
    ],
)
async def test_no_solution_stands_in_for_what_compares_it(answer: str, test: str, why: str) -> None:
    verdict = await asserted(answer, test)
    assert (verdict.status, verdict.score) == ("fail", 0.0)
    assert why in verdict.reasons[0].message


@pytest.mark.slow
@needs_sandbox
async def test_a_function_that_is_called_like_one_of_pythons_own_is_tested_where_it_is_known_to_be_meant() -> None:
    own, several = "def sum(a, b): return a + b", ["assert sum(1, 2) == 3", "assert set([sum(1, 2)]) == set([3])"]
    assert (await asserted(own, several[0])).passed
    assert (await asserted(own, *several, entryPoint="sum")).passed
    unknown = await asserted(own, *several)
    assert unknown.error_kind == "scorer"
    assert (
        "they call set and sum, and which of them is to be tested is not said; name it in entryPoint"
        in unknown.reasons[0].message
    )


@pytest.mark.slow
@needs_sandbox
@pytest.mark.parametrize(
    "value",
    [
        "2**70, -2**70, 1",
        "1.5, float('inf'), 1e-300",
        "1j, b'\\xff'",
        "'\\ud800é'",
        "{1: {'a': (1,)}, (2, 3): None}",
        "{1}, frozenset({2})",
    ],
)
async def test_values_come_back_as_they_were(value: str) -> None:
    assert (
        await asserted("def f(x): return x", f"given = [{value}]\nassert f(given) == given, f(given)", "assert f(0.0) is not 0")
    ).passed


@pytest.mark.slow
@needs_sandbox
async def test_what_does_not_end_is_ended_with_all_that_it_started() -> None:
    busy = "    import threading\n    threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()\n    while True: pass"
    verdict = await continued(busy, timeoutMs=1500)
    assert verdict.reasons[0].message == "the tests did not end within 1500 ms"
    left = [each for each in psutil.process_iter(["cmdline"]) if "/code/solution.py" in (each.info["cmdline"] or [])]
    assert psutil.wait_procs(left, timeout=10)[1] == []


@pytest.mark.slow
@needs_sandbox
async def test_assertions_on_functions_of_the_answer() -> None:
    answer = "\n".join(["def area(x): return x * x", "def pairs(): return iter([(1, 2)])", "def bad(): raise ValueError('no')"])
    refusal = "try:\n    bad()\n    raise SystemError\nexcept ValueError: pass"
    tests = ["assert area(2) == 4", "assert list(pairs()) == [(1, 2)]", refusal]
    assert (await asserted(answer, *tests)).passed
    assert (await asserted({"answer": answer}, *tests, setup="import math")).passed
    assert (await asserted(answer, "assert arae(2) == 4")).reasons[0].message.startswith("NameError: name 'arae'")


@pytest.mark.slow
@needs_sandbox
@pytest.mark.parametrize(
    ("options", "why"),
    [
        pytest.param({"setup": "import numpy", "test": "assert f(1)"}, "ModuleNotFoundError", id="library"),
        pytest.param({"test": "assert f(lambda: 1)"}, "an argument cannot be passed on", id="argument"),
        pytest.param({"entryPoint": "f", "test": "x = 1"}, "check", id="no-check"),
    ],
)
async def test_tests_that_cannot_be_run_are_errors_of_the_task(options: dict[str, Any], why: str) -> None:
    verdict = await score_response(task(**options), SkillResponse(output="def f(x): return x"))
    assert (verdict.status, verdict.score, verdict.error_kind) == ("error", None, "scorer")
    assert why in verdict.reasons[0].message


@pytest.mark.parametrize(
    ("options", "why"),
    [
        pytest.param({"test": " "}, "there are no tests", id="none"),
        pytest.param({"test": "assert ("}, "is not Python", id="syntax"),
        pytest.param({"test": "x = 1", "prompt": "def f():"}, "name it in entryPoint", id="prompt-alone"),
    ],
)
def test_wrong_tests_are_refused_when_they_are_read(options: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        TaskScoring(task(**options))


def test_without_a_sandbox_a_run_is_refused_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(UsageError, match=r"task 't' runs the code of answers, .* there is no bwrap on PATH; install bubblewrap"):
        check_code_sandbox({"t": TaskScoring(task(test="assert f()"))})


BROKEN_BWRAP = """#!/bin/sh
for word; do
    [ "$word" = /code/{program} ] && {{ {does}; exit 1; }}
done
exec {bwrap} "$@"
"""


@pytest.mark.slow
@needs_sandbox
@pytest.mark.parametrize("program", ["solution.py", "tests_host.py"])
@pytest.mark.parametrize(
    ("does", "why"),
    [
        pytest.param("echo 'bwrap: No permissions to create new namespace' >&2", "bwrap: No permissions to create", id="refused"),
        pytest.param("kill -9 $$", "its process ended without a word", id="killed"),
        pytest.param("exec sleep 100", "did not start within 1 s", id="hangs"),
    ],
)
async def test_a_sandbox_that_fails_only_when_an_answer_is_scored_is_no_verdict_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, does: str, why: str
) -> None:
    _in_place_of_bwrap(tmp_path, monkeypatch, BROKEN_BWRAP.format(program=program, does=does, bwrap=shutil.which("bwrap")))
    if "sleep" in does:
        monkeypatch.setattr("eval_skills.scorers.code.scorer.START_S", 1.0)
    verdict = await continued("    return a + b")
    assert (verdict.status, verdict.score, verdict.error_kind) == ("error", None, "scorer")
    assert "the sandbox that the code runs in did not start" in verdict.reasons[0].message
    assert why in verdict.reasons[0].message


SAYS_NO_SANDBOX = """
import os, signal
for place in ("/proc/self/fd/2", "/proc/1/fd/2", "/proc/1/fd/1", "/dev/stderr"):
    try:
        with open(place, "w") as file: file.write("no solution\\nbwrap: No permissions\\n" * 5000)
    except OSError: pass
for fd in range(64):
    try: os.write(fd, b"no solution\\n")
    except OSError: pass
"""


@pytest.mark.slow
@needs_sandbox
@pytest.mark.parametrize(
    "ends", ["os.kill(1, signal.SIGKILL)", "os._exit(1)", "os.kill(os.getpid(), 9)", "os.closerange(0, 64)", "os.kill(-1, 9)"]
)
@pytest.mark.parametrize("where", ["loading", "called"])
async def test_no_program_can_look_like_a_sandbox_that_failed(ends: str, where: str) -> None:
    body = f"{SAYS_NO_SANDBOX}{ends}"
    answer = body if where == "loading" else f"def f():\n{textwrap.indent(body, '    ')}"
    verdict = await asserted(answer, "assert f() == 1")
    assert (verdict.status, verdict.score) == ("fail", 0.0)


@pytest.mark.slow
@needs_sandbox
async def test_a_slow_start_takes_nothing_from_the_time_of_the_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bwrap = shutil.which("bwrap")
    _in_place_of_bwrap(tmp_path, monkeypatch, f'#!/bin/sh\nsleep 3\nexec {bwrap} "$@"\n')
    assert (await continued("    return a + b", timeoutMs=2_900)).passed


def _in_place_of_bwrap(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    (folder / "bwrap").write_text(script)
    (folder / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
