"""What a Python skill answers or raises."""

from __future__ import annotations

import pytest

from eval_skills.adapters import open_adapter
from eval_skills.core.errors import ContractError, SkillCrashed, SkillError
from eval_skills.core.models import Usage
from tests.adapters.programs import PATIENCE_S
from tests.adapters.python_calls import MakeSkill, ask, failure


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        pytest.param("{1}", "the answer is a set, which cannot be written as JSON; a set has no order", id="set"),
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


@pytest.mark.parametrize("how", ["", "async "], ids=["generator", "asynchronous-generator"])
async def test_a_generator_that_never_ends_is_closed_when_it_gave_too_much(python_skill: MakeSkill, how: str) -> None:
    source = f"""
        closed = []
        {how}def endless():
            try:
                while True: yield "x"
            finally:
                closed.append(True)
        def run(value): return endless() if value else closed
    """
    async with open_adapter(python_skill(source, maxOutputBytes=1000)) as adapter:
        with pytest.raises(ContractError, match=r"the answer has more than 1,000 bytes \(maxOutputBytes\)"):
            await adapter.call(True, PATIENCE_S)
        assert (await adapter.call(False, PATIENCE_S)).output == [True]


@pytest.mark.slow
@pytest.mark.parametrize("raised", ["KeyboardInterrupt", "GeneratorExit", "SystemExit", "StopAsyncIteration"])
async def test_what_a_coroutine_raises_is_its_answer(python_skill: MakeSkill, raised: str) -> None:
    source = f"""
        import asyncio
        async def run(value):
            await asyncio.sleep(0)
            if value: raise {raised}("mine")
            return "fine"
    """
    async with open_adapter(python_skill(source)) as adapter:
        with pytest.raises(SkillError, match=f"{raised}: mine"):
            await adapter.call(True, PATIENCE_S)
        assert (await adapter.call(False, PATIENCE_S)).output == "fine"


@pytest.mark.slow
async def test_an_exception_is_a_skill_error_with_the_traceback_in_its_logs(python_skill: MakeSkill) -> None:
    error = await failure(python_skill("def run(value):\n    print('about to')\n    return {}[value]"), "key")
    assert type(error) is SkillError
    assert str(error) == "KeyError: 'key'"
    assert not error.transient
    assert "about to" in error.logs
    assert 'skill.py", line 3, in run' in error.logs
    assert error.latency_ms is not None


@pytest.mark.slow
async def test_an_error_keeps_the_worker_and_a_death_replaces_it(python_skill: MakeSkill) -> None:
    source = """
        import os, sys
        def run(value):
            if value == "die": os._exit(9)
            if value == "leave": sys.exit("bye")
            return os.getpid()
    """
    async with open_adapter(python_skill(source)) as adapter:
        with pytest.raises(SkillCrashed, match=r"exit code 9\)$"):  # the request that loaded it is no call
            await adapter.call("die", PATIENCE_S)
        first = (await adapter.call(None, PATIENCE_S)).output
        with pytest.raises(SkillError, match="SystemExit: bye"):
            await adapter.call("leave", PATIENCE_S)
        assert (await adapter.call(None, PATIENCE_S)).output == first
        with pytest.raises(SkillCrashed, match=r"exit code 9\) after 3 answered requests") as caught:
            await adapter.call("die", PATIENCE_S)
        assert caught.value.transient
        assert (await adapter.call(None, PATIENCE_S)).output != first
