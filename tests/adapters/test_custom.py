"""Skills that are Python functions and classes, in workers of their own."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters import check_skill, open_adapter
from eval_skills.adapters.custom import CustomAdapter
from eval_skills.core.errors import ContractError, InfraError, InputError, ItemError, SkillError, SkillTimeout, SkillUnavailable
from eval_skills.core.models import Skill, SkillResponse, Usage
from tests.adapters.programs import PATIENCE_S

MakeSkill = Callable[..., Skill]
Running = Callable[[], list[str]]


async def ask(skill: Skill, *inputs: Any) -> list[SkillResponse]:
    async with open_adapter(skill) as adapter:
        return [await adapter.call(each, PATIENCE_S) for each in inputs or (None,)]


async def output(skill: Skill, value: Any = None) -> Any:
    return (await ask(skill, value))[0].output


async def failure(skill: Skill, value: Any = None) -> ItemError:
    with pytest.raises(ItemError) as caught:
        await ask(skill, value)
    return caught.value


# What can be named, and how it is called

SOURCE = """
import asyncio, dataclasses, functools
def run(value): return {"got": value}
async def later(value):
    await asyncio.sleep(0)
    return {"got": value}
class Box:
    inside = staticmethod(run)
class Counter:
    def __init__(self, start=0, *, step=1):
        self.number, self.step = start, step
    def call(self, value):
        self.number += self.step
        return self.number
class Waiting:
    async def call(self, value): return value
class Called:
    def __call__(self, value): return value
counter = Counter(100)
partial = functools.partial(lambda prefix, value: prefix + value, "<")
def add(a, b=10, **more): return [a, b, more]
def pieces(value):
    yield from value
async def slow_pieces(value):
    for each in value:
        yield each
async def loop(value): return id(asyncio.get_running_loop())
lock = asyncio.Lock()
async def locked(value):
    async with lock:
        return value
def runs_a_loop(value): return asyncio.run(later(value))
def awaitable(value): return later(value)
"""


@pytest.mark.parametrize(
    ("entrypoint", "value", "answer"),
    [
        pytest.param("skill:run", [1], {"got": [1]}, id="function"),
        pytest.param("skill:later", None, {"got": None}, id="coroutine-function"),
        pytest.param("skill.py:run", 1, {"got": 1}, id="of-a-file"),
        pytest.param("skill:Box.inside", 1, {"got": 1}, id="nested"),
        pytest.param("skill:partial", "x", "<x", id="partial"),
        pytest.param("skill:counter", None, 101, id="object-with-call"),
        pytest.param("skill:Waiting", 5, 5, id="class-with-async-call"),
        pytest.param("skill:Called", 5, 5, id="class-of-callables"),
        pytest.param("skill:awaitable", 5, {"got": 5}, id="function-that-gives-an-awaitable"),
        pytest.param("skill:runs_a_loop", 5, {"got": 5}, id="function-with-a-loop-of-its-own"),
        pytest.param("skill:pieces", [1, 2], [1, 2], id="generator"),
        pytest.param("skill:slow_pieces", [1, 2], [1, 2], id="asynchronous-generator"),
        pytest.param("math:sqrt", 9, 3.0, id="of-the-standard-library"),
    ],
)
async def test_what_the_entrypoint_names_is_called_with_the_input(
    python_skill: MakeSkill, entrypoint: str, value: Any, answer: Any
) -> None:
    assert await output(python_skill(SOURCE, entrypoint), value) == answer


async def test_modules_are_looked_up_in_the_skills_folder_wherever_the_caller_is(
    python_skill: MakeSkill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    (tmp_path / "pkg" / "deep").mkdir(parents=True)
    (tmp_path / "pkg" / "deep" / "agent.py").write_text(
        "import skill, os\nfrom . import near\ndef run(v): return [near.N, os.getcwd()]"
    )
    (tmp_path / "pkg" / "deep" / "near.py").write_text("N = 3")
    assert await output(python_skill("", "pkg.deep.agent:run")) == [3, str(tmp_path.resolve())]


async def test_a_file_finds_its_neighbours_and_may_have_any_name(python_skill: MakeSkill, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "my-agent 2.py").write_text("import near\ndef run(v): return near.N")
    (tmp_path / "src" / "near.py").write_text("N = 3")
    assert await output(python_skill("", "src/my-agent 2.py:run")) == 3


async def test_a_class_is_instantiated_once_in_each_worker(python_skill: MakeSkill) -> None:
    skill = python_skill(SOURCE, "skill:Counter", init={"start": 5, "step": 2})
    assert [response.output for response in await ask(skill, None, None, None)] == [7, 9, 11]


async def test_p59_spread_passes_the_inputs_keys_as_arguments(python_skill: MakeSkill) -> None:
    skill = python_skill(SOURCE, "skill:add", spread=True)
    async with open_adapter(skill) as adapter:
        assert (await adapter.call({"a": 1}, PATIENCE_S)).output == [1, 10, {}]
        assert (await adapter.call({"a": 1, "b": 2, "c": 3}, PATIENCE_S)).output == [1, 2, {"c": 3}]
        with pytest.raises(SkillError, match="missing 1 required positional argument: 'a'"):
            await adapter.call({}, PATIENCE_S)
        with pytest.raises(SkillError, match=r"the input is a list; adapterConfig\.spread needs an object"):
            await adapter.call([1, 2], PATIENCE_S)


async def test_coroutines_of_a_worker_share_one_event_loop(python_skill: MakeSkill) -> None:
    assert len({response.output for response in await ask(python_skill(SOURCE, "skill:loop"), 1, 2, 3)}) == 1
    assert [response.output for response in await ask(python_skill(SOURCE, "skill:locked"), 1, 2)] == [1, 2]


# Answers


async def test_an_envelope_is_read(python_skill: MakeSkill) -> None:
    source = """
        def run(value):
            call = {"name": "search", "arguments": {"q": value}}
            return {"output": 1, "toolCalls": [call], "usage": {"promptTokens": 3}, "costUsd": 0.5, "metadata": {"m": 1}}
    """
    (response,) = await ask(python_skill(source), "x")
    assert (response.output, response.cost_usd, response.metadata) == (1, 0.5, {"m": 1})
    assert response.usage == Usage(prompt_tokens=3)
    assert response.tool_calls is not None
    assert [(call.name, call.arguments) for call in response.tool_calls] == [("search", {"q": "x"})]


async def test_a_response_of_our_own_is_an_envelope(python_skill: MakeSkill) -> None:
    source = """
        from eval_skills.core.models import SkillResponse, ToolCall, Usage
        def run(value):
            return SkillResponse(output=value, tool_calls=[ToolCall(name="search")], usage=Usage(completion_tokens=2))
    """
    (response,) = await ask(python_skill(source), [1])
    assert (response.output, response.usage) == ([1], Usage(completion_tokens=2))
    assert response.tool_calls is not None
    assert [call.name for call in response.tool_calls] == ["search"]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        pytest.param("{1}", "the answer is a set, which is no JSON; a set has no order", id="set"),
        pytest.param("{'output': {'x': [b'']}}", r"the answer.output.x\[0\] is a bytes", id="bytes"),
        pytest.param("float('nan')", "the answer is nan", id="nan"),
        pytest.param("{'output': 1, 'usage': 3}", "malformed envelope: usage", id="envelope"),
        pytest.param("'\\ud800'", "half of a surrogate pair", id="surrogate"),
        pytest.param("'x' * 2000", r"more than 1,000 bytes \(maxOutputBytes\)", id="too-much"),
    ],
)
async def test_an_answer_that_is_no_json_is_a_contract_error_and_the_next_one_counts(
    python_skill: MakeSkill, answer: str, message: str
) -> None:
    skill = python_skill(f"def run(value): return {answer} if value else 'fine'", maxOutputBytes=1000)
    async with open_adapter(skill) as adapter:
        with pytest.raises(ContractError, match=message):
            await adapter.call(True, PATIENCE_S)
        assert (await adapter.call(False, PATIENCE_S)).output == "fine"


async def test_an_exception_is_a_skill_error_with_the_traceback_in_its_logs(python_skill: MakeSkill) -> None:
    error = await failure(python_skill("def run(value):\n    print('about to')\n    return {}[value]"), "key")
    assert type(error) is SkillError
    assert str(error) == "KeyError: 'key'"
    assert not error.transient
    assert "about to" in error.logs
    assert 'skill.py", line 3, in run' in error.logs
    assert error.latency_ms is not None


async def test_an_error_keeps_the_worker_and_a_death_replaces_it(python_skill: MakeSkill) -> None:
    source = """
        import os, sys
        def run(value):
            if value == "die": os._exit(9)
            if value == "leave": sys.exit("bye")
            return os.getpid()
    """
    async with open_adapter(python_skill(source)) as adapter:
        with pytest.raises(SkillUnavailable, match=r"exit code 9\)$"):  # the request that loaded it is no call
            await adapter.call("die", PATIENCE_S)
        first = (await adapter.call(None, PATIENCE_S)).output
        with pytest.raises(SkillError, match="SystemExit: bye"):
            await adapter.call("leave", PATIENCE_S)
        assert (await adapter.call(None, PATIENCE_S)).output == first
        with pytest.raises(SkillUnavailable, match=r"exit code 9\) after 3 answered requests") as caught:
            await adapter.call("die", PATIENCE_S)
        assert caught.value.transient
        assert (await adapter.call(None, PATIENCE_S)).output != first


# Loading


async def test_what_cannot_be_loaded_is_tried_once_and_every_call_says_so(python_skill: MakeSkill, tmp_path: Path) -> None:
    skill = python_skill("open('tries', 'a').write('x')\nprint('hint')\nraise OSError('no licence')")
    async with open_adapter(skill) as adapter:
        errors = await asyncio.gather(*(adapter.call(n, PATIENCE_S) for n in range(3)), return_exceptions=True)
    assert {type(error) for error in errors} == {InfraError}
    assert {str(error) for error in errors} == {"importing skill failed: OSError: no licence"}
    assert all("hint" in error.logs and "line 3" in error.logs for error in errors if isinstance(error, ItemError))
    assert (tmp_path / "tries").read_text() == "x"


async def test_a_process_that_dies_while_it_loads_may_be_tried_again(python_skill: MakeSkill) -> None:
    source = """
        import os, pathlib
        if not pathlib.Path("tried").exists():
            pathlib.Path("tried").touch()
            os._exit(5)
        def run(value): return value
    """
    assert await output(python_skill(source), 1) == 1
    error = await failure(python_skill("import os; os._exit(5)"))
    assert isinstance(error, SkillUnavailable)
    assert "loading skill:run: the process ended without an answer (exit code 5)" in str(error)


async def test_p59_loading_has_a_limit_of_its_own(python_skill: MakeSkill, left_running: Running) -> None:
    error = await failure(python_skill("import time; time.sleep(600)", startTimeoutMs=300))
    assert type(error) is InfraError
    assert "skill:run was not loaded within 0.3 s (adapterConfig.startTimeoutMs)" in str(error)
    assert left_running() == []


@pytest.mark.slow
async def test_the_time_of_loading_is_no_part_of_any_items_time(python_skill: MakeSkill) -> None:
    limit_s = 4.0
    source = f"import time; time.sleep({limit_s} + 1)\nimport os\ndef run(value): time.sleep(0.1); return os.getpid()"
    async with open_adapter(python_skill(source)) as adapter:
        responses = await asyncio.gather(*(adapter.call(None, limit_s) for _ in range(2)))
    assert len({response.output for response in responses}) == 2  # one worker was loaded during the call
    assert all(100 <= (response.latency_ms or 0) < limit_s * 1000 for response in responses)


@pytest.mark.parametrize(
    ("entrypoint", "config", "message"),
    [
        pytest.param(
            "skill", {}, "entrypoint: 'skill' names no Python object; write module:attribute, for example", id="no-attribute"
        ),
        pytest.param("skill:", {}, "names no Python object", id="empty-attribute"),
        pytest.param("python3 skill.py", {}, "names no Python object", id="a-command"),
        pytest.param("skill:run()", {}, "names no Python object", id="a-call"),
        pytest.param("lost.py:run", {}, "entrypoint: there is no file 'lost.py' in the skill's folder", id="no-file"),
        pytest.param("skill:run", {"spred": True}, "did you mean 'spread'", id="p60-misspelt"),
        pytest.param("skill:run", {"init": [1]}, r"adapterConfig.init", id="init-as-a-list"),
        pytest.param("skill:run", {"startTimeoutMs": 0}, "adapterConfig.startTimeoutMs", id="no-time"),
        pytest.param("skill:run", {"env": {"PYTHONPATH": "lib"}}, "PYTHONPATH has no effect", id="python-path"),
        pytest.param("skill:run", {"passEnv": ["PYTHONHOME"]}, "PYTHONHOME has no effect", id="python-home"),
    ],
)
def test_what_is_known_to_be_wrong_is_found_before_the_run(
    python_skill: MakeSkill, entrypoint: str, config: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        check_skill(python_skill("", entrypoint, **config))


def test_checking_runs_nothing_of_the_skill(python_skill: MakeSkill, tmp_path: Path) -> None:
    check_skill(python_skill("open('ran', 'w')"))
    assert not (tmp_path / "ran").exists()


# The interpreter and its surroundings


async def test_p59_the_interpreter_may_be_another_one_that_knows_nothing_of_us(python_skill: MakeSkill, tmp_path: Path) -> None:
    venv.create(tmp_path / ".venv", symlinks=True)
    source = """
        import importlib.util, sys
        def run(value): return [sys.prefix, importlib.util.find_spec("eval_skills") is None, "pydantic" in sys.modules]
    """
    answer = await output(python_skill(source, python=".venv/bin/python"))
    assert answer == [str((tmp_path / ".venv").resolve()), True, False]
    assert (await output(python_skill(source)))[0] == sys.prefix


async def test_p25_a_missing_interpreter_is_an_infra_error_that_names_it(python_skill: MakeSkill) -> None:
    error = await failure(python_skill("", python=".venv/bin/python3"))
    assert type(error) is InfraError
    assert "cannot start '.venv/bin/python3'" in str(error)


async def test_p71_the_environment_is_an_allow_list_seen_from_inside(
    python_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "PYTHONPATH", "WANTED"):
        monkeypatch.setenv(name, "/set/by/us")
    source = "import os, sys\ndef run(value): return [sorted(os.environ), sys.path]"
    names, path = await output(python_skill(source, passEnv=["WANTED"], env={"MODE": "test"}))
    assert {"WANTED", "MODE", "PATH"} <= set(names)
    assert not {"OPENAI_API_KEY", "PYTHONPATH"} & set(names)
    assert "/set/by/us" not in path


# Workers

WORKING = """
import os, signal, subprocess, sys, time
def run(value):
    if value == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.Popen([sys.executable, "-I", "-c", "import time; time.sleep(600)"])
        print("hanging")
        open("at-work", "w").close()
        time.sleep(600)
    return os.getpid()
"""


async def test_p16_a_timeout_ends_the_worker_and_its_tree_and_the_next_call_has_a_new_one(
    python_skill: MakeSkill, left_running: Running
) -> None:
    async with open_adapter(python_skill(WORKING)) as adapter:
        first = (await adapter.call(None, PATIENCE_S)).output
        with pytest.raises(SkillTimeout, match=r"^no answer within 0.5 s$") as caught:
            await adapter.call("hang", 0.5)
        assert caught.value.latency_ms is not None
        assert (await adapter.call(None, PATIENCE_S)).output != first
    assert left_running() == []


async def test_calls_at_the_same_time_have_a_worker_each(python_skill: MakeSkill, left_running: Running) -> None:
    source = """
        import os, pathlib, time
        def run(value):  # comes back when all four are here
            pathlib.Path(f"here-{os.getpid()}").touch()
            while len(list(pathlib.Path().glob("here-*"))) < 4:
                time.sleep(0.01)
            return os.getpid()
    """
    async with open_adapter(python_skill(source)) as adapter:
        responses = await asyncio.gather(*(adapter.call(n, PATIENCE_S) for n in range(4)))
        again = {(await adapter.call(n, PATIENCE_S)).output for n in range(3)}
    pids = {response.output for response in responses}
    assert len(pids) == 4
    assert len(again) == 1
    assert again < pids
    assert left_running() == []


RUN = """
import asyncio, sys
from pathlib import Path
from eval_skills.adapters import open_adapter
from eval_skills.core.skills import load_skill
async def main():
    async with open_adapter(load_skill(Path(sys.argv[1]))) as adapter:
        await adapter.call(None, 600)
        await adapter.call("hang", 600)
asyncio.run(main())
"""


async def test_no_worker_outlives_a_run_that_was_killed(python_skill: MakeSkill, tmp_path: Path, left_running: Running) -> None:
    skill = python_skill(WORKING)
    (tmp_path / "skill.json").write_text(skill.model_dump_json(by_alias=True))
    run = subprocess.Popen([sys.executable, "-c", RUN, str(tmp_path)], stderr=subprocess.PIPE)
    end = time.monotonic() + PATIENCE_S
    while not (tmp_path / "at-work").exists() and time.monotonic() < end:
        await asyncio.sleep(0.01)
    assert (tmp_path / "at-work").exists()
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    assert left_running() == []


def test_the_adapter_of_the_type_is_this_one(python_skill: MakeSkill) -> None:
    assert isinstance(open_adapter(python_skill("")), CustomAdapter)
