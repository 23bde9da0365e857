"""Functions and classes of Python as skills: what can be named, and how it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters import open_adapter
from eval_skills.adapters.python.adapter import CustomAdapter
from eval_skills.core.errors import SkillError
from tests.adapters.programs import PATIENCE_S
from tests.adapters.python_calls import MakeSkill, ask, output

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


@pytest.mark.slow
async def test_a_class_is_instantiated_once_in_each_worker(python_skill: MakeSkill) -> None:
    skill = python_skill(SOURCE, "skill:Counter", init={"start": 5, "step": 2})
    assert [response.output for response in await ask(skill, None, None, None)] == [7, 9, 11]


@pytest.mark.slow
async def test_p59_spread_passes_the_inputs_keys_as_arguments(python_skill: MakeSkill) -> None:
    skill = python_skill(SOURCE, "skill:add", spread=True)
    async with open_adapter(skill) as adapter:
        assert (await adapter.call({"a": 1}, PATIENCE_S)).output == [1, 10, {}]
        assert (await adapter.call({"a": 1, "b": 2, "c": 3}, PATIENCE_S)).output == [1, 2, {"c": 3}]
        with pytest.raises(SkillError, match="missing 1 required positional argument: 'a'"):
            await adapter.call({}, PATIENCE_S)
        with pytest.raises(SkillError, match=r"the input is a list; adapterConfig\.spread needs an object"):
            await adapter.call([1, 2], PATIENCE_S)


@pytest.mark.slow
async def test_coroutines_of_a_worker_share_one_event_loop(python_skill: MakeSkill) -> None:
    assert len({response.output for response in await ask(python_skill(SOURCE, "skill:loop"), 1, 2, 3)}) == 1
    assert [response.output for response in await ask(python_skill(SOURCE, "skill:locked"), 1, 2)] == [1, 2]


def test_the_adapter_of_the_type_is_this_one(python_skill: MakeSkill) -> None:
    assert isinstance(open_adapter(python_skill("")), CustomAdapter)
