from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters.subprocess import SubprocessAdapter
from eval_skills.core.errors import ContractError, InfraError, InputError, ItemError, SkillError, SkillTimeout, SkillUnavailable
from eval_skills.core.models import Skill, SkillResponse

MakeSkill = Callable[..., Skill]
Running = Callable[[], list[str]]

ONE_SHOT = """
import json, os, sys, time
def reply(result, id=None, **extra):
    return json.dumps({"jsonrpc": "2.0", "id": request["id"] if id is None else id, "result": result, **extra})
request = json.loads(sys.stdin.read())
params = request["params"]
"""

ECHO = ONE_SHOT + "print(reply(params))"

WARM = """
import json, os, sys, time
for number, line in enumerate(sys.stdin, 1):
    request = json.loads(line)
    params = request["params"]
    if params == "die":
        sys.exit(9)
    if params == "hang":
        time.sleep(60)
    if params == "unterminated":
        sys.stdout.write("progress 50 %")
    if params == "twice":
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": "first"}))
    if params == "fail":
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": {"code": 7, "message": "no"}}), flush=True)
        continue
    result = {"pid": os.getpid(), "number": number, "params": params}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}) + chr(10))
    if params == "unterminated":
        sys.stdout.write("progress")
    sys.stdout.flush()
"""


async def ask(skill: Skill, params: Any = None, timeout_s: float = 10) -> SkillResponse:
    async with SubprocessAdapter(skill) as adapter:
        return await adapter.call(params, timeout_s)


async def failure(skill: Skill, params: Any = None, timeout_s: float = 10) -> ItemError:
    with pytest.raises(ItemError) as caught:
        await ask(skill, params, timeout_s)
    return caught.value


@pytest.mark.parametrize("params", [{"a": [1, None, "é\n\u2028"]}, [], None, "text", 0.1], ids=repr)
async def test_a_skill_that_reads_to_end_of_file_gets_its_input_and_answers(program_skill: MakeSkill, params: Any) -> None:
    assert (await ask(program_skill(ECHO), params)).output == params


async def test_the_request_is_json_rpc_with_method_invoke(program_skill: MakeSkill) -> None:
    request = (await ask(program_skill(ONE_SHOT + "print(reply(request))"), {"n": 1})).output
    assert request == {"jsonrpc": "2.0", "method": "invoke", "params": {"n": 1}, "id": 1}


@pytest.mark.parametrize(
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


async def test_p24_the_exit_code_after_an_answer_is_a_remark(program_skill: MakeSkill) -> None:
    response = await ask(program_skill(ONE_SHOT + "print(reply(1)); sys.exit(3)"))
    assert response.output == 1
    assert response.metadata == {"exitCode": 3}
    assert "exit code 3 after the answer" in response.logs


async def test_other_lines_and_standard_error_are_logs(program_skill: MakeSkill) -> None:
    source = ONE_SHOT + 'print("one"); print(reply(1)); print("two"); print("three", file=sys.stderr)'
    assert (await ask(program_skill(source))).logs == "one\ntwo\nthree"


async def test_a_pretty_printed_answer_is_no_log(program_skill: MakeSkill) -> None:
    assert (await ask(program_skill(ONE_SHOT + "print(json.dumps(json.loads(reply(1)), indent=2))"))).logs == ""


async def test_logs_are_capped(program_skill: MakeSkill) -> None:
    response = await ask(
        program_skill(ONE_SHOT + 'print("x" * 99 + "\\n", end="") or [print("y" * 99) for _ in range(5000)]; print(reply(1))')
    )
    assert response.output == 1
    assert len(response.logs) < 65_000
    assert "earlier bytes left out" in response.logs


async def test_an_envelope_is_read(program_skill: MakeSkill) -> None:
    response = await ask(
        program_skill(ONE_SHOT + 'print(reply({"output": 1, "costUsd": 0.5, "metadata": {"m": 1}})); sys.exit(4)')
    )
    assert (response.output, response.cost_usd, response.metadata) == (1, 0.5, {"m": 1, "exitCode": 4})


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        pytest.param("pass", ContractError, r"without an answer to id 1 \(exit code 0\); nothing on stdout", id="silent"),
        pytest.param('print("42")', ContractError, r"no answer: not a JSON object: 42", id="garbage"),
        pytest.param('print(reply(1, id="1"))', ContractError, r'its id is "1" and 1 was asked', id="p23-text-id"),
        pytest.param("print(reply(1, id=7))", ContractError, r"its id is 7 and 1 was asked", id="p23-wrong-id"),
        pytest.param('print(json.dumps({"result": 1}))', ContractError, r'without "jsonrpc": "2.0"', id="no-version"),
        pytest.param('print(reply(float("nan")))', ContractError, r"NaN is no JSON value", id="nan"),
        pytest.param('print("x" * 2000)', ContractError, r"more than 1,000 bytes \(maxOutputBytes\)", id="huge-line"),
        pytest.param('sys.stdout.write("x" * 2000)', ContractError, r"more than 1,000 bytes", id="huge-unfinished-line"),
        pytest.param('print(reply({"output": 1, "usage": 3}))', ContractError, r"malformed envelope: usage", id="bad-envelope"),
        pytest.param("print(reply(0, error={'code': 3, 'message': 'no'}))", SkillError, "error 3: no", id="error"),
        pytest.param('sys.exit("went wrong")', SkillUnavailable, r"\(exit code 1\); stderr: went wrong", id="exit-1"),
        pytest.param("os.kill(os.getpid(), 9)", SkillUnavailable, r"killed by SIGKILL", id="killed"),
        pytest.param("os.kill(os.getpid(), 15)", SkillUnavailable, r"killed by SIGTERM", id="terminated"),
        pytest.param(
            'os.execvp("sh", ["sh", "-c", "no-such-program-here"])', InfraError, r"exit code 127\); stderr: .*not found", id="127"
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
                await adapter.call({}, 5)
            assert not caught.value.transient
            assert caught.value.latency_ms is not None


async def test_an_input_larger_than_a_pipe_is_sent_whole_and_an_unread_one_does_no_harm(program_skill: MakeSkill) -> None:
    big = "x" * 1_000_000
    assert (await ask(program_skill(ONE_SHOT + "print(reply(len(params)))"), big)).output == len(big)
    source = 'import sys; sys.stdin.close(); print(\'{"jsonrpc": "2.0", "id": 1, "result": "unread"}\')'
    assert (await ask(program_skill(source), big)).output == "unread"


async def test_an_answer_counts_although_the_process_does_not_end(program_skill: MakeSkill, left_running: Running) -> None:
    response = await ask(program_skill(ONE_SHOT + "print(reply(1), flush=True); time.sleep(60)"), timeout_s=0.6)
    assert response.output == 1
    assert "still running" in response.logs
    assert response.latency_ms is not None
    assert response.latency_ms < 500
    assert left_running() == []


async def test_what_a_finished_process_left_behind_is_ended(program_skill: MakeSkill, left_running: Running) -> None:
    source = "import subprocess\n" + ONE_SHOT + 'subprocess.Popen(["sleep", "60"]); print(reply(1))'
    assert (await ask(program_skill(source))).output == 1
    assert left_running() == []


async def test_a_process_that_left_its_session_and_holds_the_pipe_does_not_hold_the_answer(program_skill: MakeSkill) -> None:
    source = "import subprocess\n" + ONE_SHOT + 'subprocess.Popen(["sleep", "2"], start_new_session=True); print("no answer")'
    error = await failure(program_skill(source), timeout_s=1.5)
    assert isinstance(error, ContractError)


# The command


async def test_p26_quotes_hold_words_together_and_nothing_is_rewritten(program_skill: MakeSkill) -> None:
    source = ONE_SHOT + "print(reply(sys.argv[1:]))"
    response = await ask(program_skill(source, "'two words' a.b/c $HOME '*' pkg.mod"))
    assert response.output == ["two words", "a.b/c", "$HOME", "*", "pkg.mod"]


async def test_p26_a_module_is_run_by_its_name(program_skill: MakeSkill, tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "mod.py").write_text(ECHO)
    assert (await ask(program_skill("", command=f"{shlex.quote(sys.executable)} -S -m pkg.mod"), 5)).output == 5


async def test_p22_command_and_args_override_the_entrypoint(program_skill: MakeSkill, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(ONE_SHOT + "print(reply(sys.argv[1:]))")
    skill = program_skill("raise SystemExit(1)", command=f"{shlex.quote(sys.executable)} -S other.py", args=["a b", "c"])
    assert (await ask(skill)).output == ["a b", "c"]


async def test_p27_the_working_directory_is_the_skills_folder(
    program_skill: MakeSkill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    assert (await ask(program_skill(ONE_SHOT + "print(reply(os.getcwd()))"))).output == str(tmp_path.resolve())


async def test_p70_no_shell_sees_a_folders_name(program_skill: MakeSkill, tmp_path: Path) -> None:
    folder = tmp_path / "$(touch owned);`touch owned`"
    folder.mkdir()
    (folder / "skill.py").write_text(ECHO)
    assert (await ask(program_skill(ECHO).located_in(folder), 1)).output == 1
    assert not list(tmp_path.rglob("owned"))


async def test_p70_no_shell_sees_the_entrypoint(program_skill: MakeSkill, tmp_path: Path) -> None:
    response = await ask(program_skill(ONE_SHOT + "print(reply(sys.argv[1:]))", "; touch owned && $(touch owned) | cat > owned"))
    assert response.output == [";", "touch", "owned", "&&", "$(touch", "owned)", "|", "cat", ">", "owned"]
    assert not (tmp_path / "owned").exists()


async def test_p71_the_environment_is_an_allow_list_seen_from_inside(
    program_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "BASH_ENV", "ENV", "PYTHONPATH", "WANTED", "LC_TIME"):
        monkeypatch.setenv(name, "/set/by/us")
    skill = program_skill(ONE_SHOT + "print(reply(dict(os.environ)))", env={"MODE": "test"}, passEnv=["WANTED", "NOT_SET"])
    seen = set((await ask(skill)).output) - {"LC_CTYPE"}  # Python itself sets this one in a C locale
    assert seen <= {"PATH", "HOME", "LANG", "TZ", "TMPDIR", "MODE", "WANTED"} | {
        name for name in os.environ if name.startswith("LC_")
    }
    assert {"MODE", "WANTED", "LC_TIME", "PATH"} <= seen


def test_an_open_quote_and_a_missing_folder_are_found_before_the_run(program_skill: MakeSkill) -> None:
    with pytest.raises(InputError, match="entrypoint: cannot be split"):
        SubprocessAdapter.check(program_skill("").model_copy(update={"entrypoint": "python 'x"}))
    data = {"id": "a", "name": "A", "version": "1.0.0", "adapterType": "subprocess", "entrypoint": "x"}
    with pytest.raises(InputError, match="this skill has none"):
        SubprocessAdapter.check(Skill.model_validate(data))


# Limits


async def test_p28_a_memory_limit_strikes_and_is_named(program_skill: MakeSkill) -> None:
    source = ONE_SHOT + "time.sleep(0.05); held = bytearray(200_000_000); print(reply(len(held)))"
    assert (await ask(program_skill(source))).output == 200_000_000
    error = await failure(program_skill(source, limits={"memoryMb": 64}))
    assert isinstance(error, SkillUnavailable)
    assert "limits.memoryMb = 64" in str(error)
    assert "MemoryError" in str(error)


async def test_p28_reserved_address_space_is_free(program_skill: MakeSkill) -> None:
    source = (
        ONE_SHOT
        + "import mmap; time.sleep(0.05); space = mmap.mmap(-1, 1 << 32, flags=mmap.MAP_PRIVATE | 0x20, prot=0); print(reply(1))"
    )
    assert (await ask(program_skill(source, limits={"memoryMb": 128}))).output == 1


async def test_a_cpu_limit_strikes_is_named_and_is_final(program_skill: MakeSkill) -> None:
    error = await failure(program_skill("while True: pass", limits={"cpuSeconds": 1}))
    assert type(error) is InfraError
    assert "limits.cpuSeconds = 1" in str(error)


async def test_limits_hold_for_a_process_that_is_inspected_from_inside(program_skill: MakeSkill) -> None:
    source = ONE_SHOT + "import resource; time.sleep(0.05); print(reply([resource.getrlimit(resource.RLIMIT_CPU)[0]]))"
    assert (await ask(program_skill(source, limits={"cpuSeconds": 77}))).output == [77]


# Persistent workers


async def test_a_warm_worker_answers_line_after_line(program_skill: MakeSkill) -> None:
    async with SubprocessAdapter(program_skill(WARM, persistent=True)) as adapter:
        answers = [(await adapter.call(n, 10)).output for n in range(5)]
    assert [answer["number"] for answer in answers] == [1, 2, 3, 4, 5]
    assert len({answer["pid"] for answer in answers}) == 1


async def test_the_start_of_a_worker_is_no_part_of_its_latency(program_skill: MakeSkill) -> None:
    skill = program_skill("import time; time.sleep(1)\n" + WARM, persistent=True)
    async with SubprocessAdapter(skill) as adapter:
        latencies = [(await adapter.call(n, 10)).latency_ms for n in range(2)]
    assert all(latency is not None and latency < 600 for latency in latencies)


async def test_what_a_worker_does_with_its_first_request_is_part_of_the_latency(program_skill: MakeSkill) -> None:
    source = WARM.replace("    params = request", "    time.sleep(0.3)\n    params = request")
    async with SubprocessAdapter(program_skill(source, persistent=True)) as adapter:
        first = await adapter.call(1, 10)
    assert first.latency_ms is not None
    assert first.latency_ms >= 295


async def test_the_pool_grows_with_concurrent_calls_and_reuses_the_last(program_skill: MakeSkill, left_running: Running) -> None:
    async with SubprocessAdapter(program_skill(WARM, persistent=True)) as adapter:
        together = await asyncio.gather(*(adapter.call(n, 10) for n in range(3)))
        pids = {response.output["pid"] for response in together}
        alone = {(await adapter.call(n, 10)).output["pid"] for n in range(4)}
    assert len(pids) == 3
    assert len(alone) == 1
    assert alone < pids
    assert [response.output["params"] for response in together] == [0, 1, 2]
    assert left_running() == []


async def test_a_worker_that_dies_is_replaced(program_skill: MakeSkill) -> None:
    async with SubprocessAdapter(program_skill(WARM, persistent=True)) as adapter:
        first = (await adapter.call(1, 10)).output
        with pytest.raises(SkillUnavailable, match=r"exit code 9\) after 1 answered requests"):
            await adapter.call("die", 10)
        second = (await adapter.call(2, 10)).output
    assert second["number"] == 1
    assert second["pid"] != first["pid"]


async def test_a_worker_that_died_while_idle_is_replaced(program_skill: MakeSkill) -> None:
    async with SubprocessAdapter(program_skill(WARM, persistent=True)) as adapter:
        first = (await adapter.call(1, 10)).output
        os.kill(first["pid"], 9)
        worker = next(iter(adapter._pool._all))
        await asyncio.wait_for(worker._child.ended, 5)
        assert (await adapter.call(2, 10)).output["number"] == 1


async def test_a_worker_is_replaced_after_a_timeout(program_skill: MakeSkill, left_running: Running) -> None:
    async with SubprocessAdapter(program_skill(WARM, persistent=True)) as adapter:
        first = (await adapter.call(1, 10)).output
        with pytest.raises(SkillTimeout, match=r"no answer within 0.2 s; nothing on stdout"):
            await adapter.call("hang", 0.2)
        assert (await adapter.call(2, 10)).output["pid"] != first["pid"]
    assert left_running() == []


async def test_an_error_reply_keeps_the_worker(program_skill: MakeSkill) -> None:
    async with SubprocessAdapter(program_skill(WARM, persistent=True)) as adapter:
        with pytest.raises(SkillError, match="error 7: no"):
            await adapter.call("fail", 10)
        assert (await adapter.call(1, 10)).output["number"] == 2


async def test_a_late_second_answer_is_a_log(program_skill: MakeSkill) -> None:
    async with SubprocessAdapter(program_skill(WARM, persistent=True)) as adapter:
        assert (await adapter.call("twice", 10)).output == "first"
        assert (await adapter.call("x", 10)).output["params"] == "x"


async def test_a_log_without_line_feed_does_not_swallow_the_next_answer(program_skill: MakeSkill) -> None:
    skill = program_skill(WARM.replace('sys.stdout.write("progress 50 %")', "pass"), persistent=True)
    async with SubprocessAdapter(skill) as adapter:
        await adapter.call("unterminated", 10)
        assert (await adapter.call("x", 10)).output["params"] == "x"


async def test_workers_end_by_themselves_at_end_of_file(program_skill: MakeSkill, tmp_path: Path) -> None:
    skill = program_skill(WARM + "open('farewell', 'w').close()", persistent=True)
    async with SubprocessAdapter(skill) as adapter:
        await adapter.call(1, 10)
    assert (tmp_path / "farewell").exists()


async def test_a_timeout_says_which_line_was_no_answer(program_skill: MakeSkill) -> None:
    source = 'import sys\nfor line in sys.stdin: print(\'{"jsonrpc":"2.0","id":"1","result":0}\', flush=True)'
    error = await failure(program_skill(source, persistent=True), timeout_s=0.5)
    assert isinstance(error, SkillTimeout)
    assert 'its id is "1" and 1 was asked' in str(error)


async def test_p100_a_warm_worker_is_at_least_three_times_as_fast_as_fresh_processes(program_skill: MakeSkill) -> None:
    async def items_per_s(adapter: SubprocessAdapter, count: int) -> float:
        loop = asyncio.get_running_loop()
        began = loop.time()
        await asyncio.gather(*(caller(adapter, count // 4) for _ in range(4)))
        return count / (loop.time() - began)

    async def caller(adapter: SubprocessAdapter, count: int) -> None:
        for number in range(count):
            await adapter.call(number, 10)

    async with SubprocessAdapter(program_skill(WARM, persistent=True)) as warm:
        await caller(warm, 1)
        fast = await items_per_s(warm, 200)
    async with SubprocessAdapter(program_skill(ECHO)) as fresh:
        slow = await items_per_s(fresh, 20)
    assert fast >= 3 * slow


async def test_a_skill_may_open_its_standard_input_by_name(program_skill: MakeSkill) -> None:
    # A socket in the place of the pipe would make this fail.
    source = ONE_SHOT.replace("sys.stdin.read()", 'open("/dev/stdin").read()') + "print(reply(params))"
    assert (await ask(program_skill(source), 7)).output == 7
