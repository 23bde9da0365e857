"""A fresh process for each call: its answer, its end, and what it leaves behind."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters.process.adapter import LINGER_S, SubprocessAdapter
from eval_skills.core.errors import ContractError, InfraError, ItemError, SkillCrashed, SkillError
from eval_skills.core.models import Skill
from tests.adapters.programs import ECHO, ONE_SHOT, PATIENCE_S, ask, failure
from tests.tables import each_row

MakeSkill = Callable[..., Skill]
Running = Callable[[], list[str]]

CLOCK_MS = 20.0
"""How much earlier than asked the event loop may wake up."""


@pytest.mark.parametrize("params", [{"a": [1, None, "é\n\u2028"]}, [], None, "text", 0.1], ids=repr)
async def test_a_skill_that_reads_to_end_of_file_gets_its_input_and_answers(program_skill: MakeSkill, params: Any) -> None:
    assert (await ask(program_skill(ECHO), params)).output == params


async def test_the_request_is_json_rpc_with_method_invoke(program_skill: MakeSkill) -> None:
    request = (await ask(program_skill(ONE_SHOT + "print(reply(request))"), {"n": 1})).output
    assert request == {"jsonrpc": "2.0", "method": "invoke", "params": {"n": 1}, "id": 1}


@pytest.mark.slow
@each_row(
    "source",
    [
        pytest.param('print("before"); print(reply(1)); print("after")', id="p23-logs-around"),
        pytest.param("print(json.dumps(json.loads(reply(1)), indent=2))", id="p23-pretty-printed"),
        pytest.param("sys.stdout.write(reply(1))", id="no-line-feed"),
        pytest.param('sys.stdout.write(reply(1) + "\\r\\n")', id="windows-line-end"),
        pytest.param('print(\'{"jsonrpc": "2.0", "id": null, "result": 1}\')', id="null-id"),
        pytest.param('print(reply(2, id=99)); print(\'{"level": "info"}\'); print(reply(1))', id="other-ids-are-logs"),
        pytest.param("print(reply(1)); sys.exit(3)", id="p24-exit-code"),
        pytest.param("print(reply(1)); print(reply(2))", id="first-answer-counts"),
        pytest.param("print(reply(1), flush=True); os.kill(os.getpid(), 9)", id="killed-after"),
    ],
)
async def test_the_answer_is_found(program_skill: MakeSkill, source: str) -> None:
    assert (await ask(program_skill(ONE_SHOT + source))).output == 1


@pytest.fixture
def time_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has answered is waited for until it ends, however busy the machine is."""
    monkeypatch.setattr("eval_skills.adapters.process.adapter.LINGER_S", PATIENCE_S)


@pytest.mark.usefixtures("time_to_end")
async def test_p24_the_exit_code_after_an_answer_is_a_remark(program_skill: MakeSkill) -> None:
    response = await ask(program_skill(ONE_SHOT + "print(reply(1)); sys.exit(3)"))
    assert response.output == 1
    assert response.metadata == {"exitCode": 3}
    assert "exit code 3 after the answer" in response.logs


@pytest.mark.usefixtures("time_to_end")
async def test_other_lines_and_standard_error_are_logs(program_skill: MakeSkill) -> None:
    source = ONE_SHOT + 'print("one"); print(reply(1)); print("two"); print("three", file=sys.stderr)'
    assert (await ask(program_skill(source))).logs == "one\ntwo\nthree"


@pytest.mark.usefixtures("time_to_end")
async def test_a_pretty_printed_answer_is_no_log(program_skill: MakeSkill) -> None:
    assert (await ask(program_skill(ONE_SHOT + "print(json.dumps(json.loads(reply(1)), indent=2))"))).logs == ""


async def test_logs_are_capped(program_skill: MakeSkill) -> None:
    response = await ask(
        program_skill(ONE_SHOT + 'print("x" * 99 + "\\n", end="") or [print("y" * 99) for _ in range(5000)]; print(reply(1))')
    )
    assert response.output == 1
    assert len(response.logs) < 65_000
    assert "earlier bytes left out" in response.logs


@pytest.mark.usefixtures("time_to_end")
async def test_an_envelope_is_read(program_skill: MakeSkill) -> None:
    response = await ask(
        program_skill(ONE_SHOT + 'print(reply({"output": 1, "costUsd": 0.5, "metadata": {"m": 1}})); sys.exit(4)')
    )
    assert (response.output, response.cost_usd, response.metadata) == (1, 0.5, {"m": 1, "exitCode": 4})


@pytest.mark.slow
@each_row(
    ("source", "kind", "message"),
    [
        pytest.param("pass", ContractError, r"without an answer to id 1 \(exit code 0\); nothing on stdout", id="silent"),
        pytest.param('print("10 %\\r" + reply(1))', ContractError, r"not a JSON object: 10 % \{", id="behind-a-carriage-return"),
        pytest.param(
            'sys.stdout.buffer.write((reply(1) + "\\n").encode("utf-16"))',
            ContractError,
            "not a JSON object .*UTF-16",
            id="utf-16",
        ),
        pytest.param('print("42")', ContractError, r"not an answer: not a JSON object: 42", id="garbage"),
        pytest.param('print(reply(1, id="1"))', ContractError, r'its id is "1" and 1 was asked', id="p23-text-id"),
        pytest.param("print(reply(1, id=7))", ContractError, r"its id is 7 and 1 was asked", id="p23-wrong-id"),
        pytest.param('print(json.dumps({"result": 1}))', ContractError, r'without "jsonrpc": "2.0"', id="no-version"),
        pytest.param('print(reply(float("nan")))', ContractError, r"NaN is not a JSON value", id="nan"),
        pytest.param('print("x" * 2000)', ContractError, r"more than 1,000 bytes \(maxOutputBytes\)", id="huge-line"),
        pytest.param('sys.stdout.write("x" * 2000)', ContractError, r"more than 1,000 bytes", id="huge-unfinished-line"),
        pytest.param('print(reply({"output": 1, "usage": 3}))', ContractError, r"malformed envelope: usage", id="bad-envelope"),
        pytest.param("print(reply(0, error={'code': 3, 'message': 'no'}))", SkillError, "error 3: no", id="error"),
        pytest.param('sys.exit("went wrong")', SkillCrashed, r"\(exit code 1\); stderr: went wrong", id="exit-1"),
        pytest.param("os.kill(os.getpid(), 9)", SkillCrashed, r"killed by SIGKILL", id="killed"),
        pytest.param("os.kill(os.getpid(), 15)", SkillCrashed, r"killed by SIGTERM", id="terminated"),
        pytest.param(
            'os.execvp("sh", ["sh", "-c", "no-such-program-here"])', InfraError, r"exit code 127\); stderr: .*not found", id="127"
        ),
        pytest.param(
            """print('{"jsonrpc": "2.0", "method": "progress", "params": {"toolCalls": [{"name": "pay"}]}}'); sys.exit(127)""",
            SkillCrashed,
            r"the process ended without an answer \(exit code 127\)",
            id="127-of-a-program-that-ran",
        ),
    ],
)
async def test_what_is_no_answer_is_an_error_that_says_what_was_seen(
    program_skill: MakeSkill, source: str, kind: type[ItemError], message: str
) -> None:
    error = await failure(program_skill(ONE_SHOT + source, maxOutputBytes=1000))
    assert type(error) is kind
    assert error.latency_ms is not None
    assert error.latency_ms > 0
    with pytest.raises(kind, match=message):
        raise error


async def test_errors_carry_the_logs(program_skill: MakeSkill) -> None:
    error = await failure(program_skill(ONE_SHOT + 'print("doing"); print("hints", file=sys.stderr); sys.exit(1)'))
    assert error.logs == "doing\nhints"


async def test_memory_stays_bounded_under_an_endless_line(program_skill: MakeSkill) -> None:
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    error = await failure(program_skill("import sys\nwhile True: sys.stdout.write('x' * 65536)", maxOutputBytes=1_000_000))
    assert isinstance(error, ContractError)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000  # KiB


@pytest.mark.parametrize(
    "entrypoint",
    [
        pytest.param("no-such-interpreter skill.py", id="p25-missing-interpreter"),
        pytest.param("./missing.sh", id="missing-file"),
        pytest.param("./plain.txt", id="not-executable"),
        pytest.param("./bad-shebang", id="missing-shebang-interpreter"),
        pytest.param("./empty-binary", id="not-a-program"),
    ],
)
async def test_p25_what_cannot_be_started_is_one_items_infra_error(
    program_skill: MakeSkill, tmp_path: Path, entrypoint: str
) -> None:
    (tmp_path / "plain.txt").write_text("x")
    for name, text in (("bad-shebang", "#!/no/such/interpreter\n"), ("empty-binary", "\x7fELF?")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    skill = program_skill("", command=entrypoint)
    async with SubprocessAdapter(skill) as adapter:
        for _ in range(2):
            with pytest.raises(InfraError, match="cannot start") as caught:
                await adapter.call({}, PATIENCE_S)
            assert not caught.value.transient
            assert caught.value.latency_ms is not None


async def test_an_input_larger_than_a_pipe_is_sent_whole_and_an_unread_one_does_no_harm(program_skill: MakeSkill) -> None:
    big = "x" * 1_000_000
    assert (await ask(program_skill(ONE_SHOT + "print(reply(len(params)))"), big)).output == len(big)
    source = 'import os; os.read(0, 1); os.close(0); print(\'{"jsonrpc": "2.0", "id": 1, "result": "unread"}\')'
    assert (await ask(program_skill(source), big)).output == "unread"


async def test_an_answer_counts_although_the_process_does_not_end(program_skill: MakeSkill, left_running: Running) -> None:
    began = time.perf_counter()
    response = await ask(program_skill(ONE_SHOT + "print(reply(1), flush=True); time.sleep(600)"))
    took_ms = (time.perf_counter() - began) * 1000
    assert response.output == 1
    assert f"still running {LINGER_S:g} s after its answer" in response.logs
    assert response.latency_ms is not None
    assert response.latency_ms <= took_ms - LINGER_S * 1000 + CLOCK_MS
    assert left_running() == []


async def test_what_a_finished_process_left_behind_is_ended(program_skill: MakeSkill, left_running: Running) -> None:
    source = "import subprocess\n" + ONE_SHOT + 'subprocess.Popen(["sleep", "600"]); print(reply(1))'
    assert (await ask(program_skill(source))).output == 1
    assert left_running() == []


async def test_a_process_that_left_its_session_and_holds_the_pipe_does_not_hold_the_answer(program_skill: MakeSkill) -> None:
    source = "import subprocess\n" + ONE_SHOT + 'print(subprocess.Popen(["sleep", "600"], start_new_session=True).pid)'
    error = await failure(program_skill(source))
    assert isinstance(error, ContractError)
    os.kill(int(error.logs), signal.SIGKILL)  # it is still there


async def test_a_skill_may_open_its_standard_input_by_name(program_skill: MakeSkill) -> None:
    # A socket in the place of the pipe would make this fail.
    source = ONE_SHOT.replace("sys.stdin.read()", 'open("/dev/stdin").read()') + "print(reply(params))"
    assert (await ask(program_skill(source), 7)).output == 7
