"""Programs as answers: what passes, why the others fail, and that no program can make its own verdict."""

from __future__ import annotations

from typing import Any

import psutil
import pytest

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import EvalTask, SkillResponse, Verdict
from eval_skills.engine.definition.benchmark import check_code_sandbox
from eval_skills.scorers import TaskScoring, score_response
from eval_skills.scorers.code.jail import why_no_jail
from eval_skills.scorers.code.scorer import code_of

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


@needs_sandbox
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("    return a + b", id="body"),
        pytest.param("return a + b", id="body-without-indent"),
        pytest.param("```python\ndef add(a, b):\n    return a + b\n```", id="whole-in-a-fence"),
        pytest.param("Sure:\n```\n    return a + b\n```\nThat is it.", id="body-in-a-fence"),
        pytest.param("def add(a, b):\n    return helper(a) + b", id="whole-with-the-prompts-helper"),
    ],
)
async def test_a_body_and_a_whole_function_pass(answer: str) -> None:
    verdict = await continued(answer)
    assert (verdict.status, verdict.score) == ("pass", 1.0)


@needs_sandbox
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        pytest.param("    return a - b", "AssertionError at assert candidate(1, 2) == 3", id="wrong"),
        pytest.param("    return 3", "AssertionError: lists at assert candidate([1], [2])", id="second-test"),
        pytest.param("    return a.x", "AttributeError: 'int' object has no attribute 'x' at", id="raises"),
        pytest.param("def (:", "the solution does not load: SyntaxError", id="no-python"),
        pytest.param("def sub(a, b): return a", "AssertionError", id="another-function"),
        pytest.param("    import os; os._exit(0)", "the process of the solution ended", id="exits"),
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


@needs_sandbox
async def test_what_does_not_end_is_ended_with_all_that_it_started() -> None:
    busy = "    import threading\n    threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()\n    while True: pass"
    verdict = await continued(busy, timeoutMs=1500)
    assert verdict.reasons[0].message == "the tests did not end within 1500 ms"
    left = [each for each in psutil.process_iter(["cmdline"]) if "/code/solution.py" in (each.info["cmdline"] or [])]
    assert psutil.wait_procs(left, timeout=10)[1] == []


@needs_sandbox
async def test_assertions_on_functions_of_the_answer() -> None:
    answer = "\n".join(["def area(x): return x * x", "def pairs(): return iter([(1, 2)])", "def bad(): raise ValueError('no')"])
    refusal = "try:\n    bad()\n    raise SystemError\nexcept ValueError: pass"
    tests = ["assert area(2) == 4", "assert list(pairs()) == [(1, 2)]", refusal]
    assert (await asserted(answer, *tests)).passed
    assert (await asserted({"answer": answer}, *tests, setup="import math")).passed
    assert (await asserted(answer, "assert arae(2) == 4")).reasons[0].message.startswith("NameError: name 'arae'")


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


def test_of_several_blocks_all_are_taken() -> None:
    assert code_of("```\na = 1\n```\nand\n```py\nb = 2\n```", "", "") == "a = 1\n\nb = 2\n"
