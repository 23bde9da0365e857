"""Other Runnables of the real LangChain: models, chains, tools, and whatever has `invoke`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters import check_skill
from eval_skills.core.errors import InputError
from eval_skills.core.models import Usage
from tests.adapters.langchain_agent import Started
from tests.adapters.skills import make_skill

pytestmark = pytest.mark.filterwarnings("ignore")


def test_tokens_are_counted_although_the_message_is_lost(started: Started) -> None:
    response = started("chain")({"q": "hello"})
    assert (response.output, response.messages, response.tool_calls) == ("hi", None, None)
    assert response.usage == Usage(prompt_tokens=3, completion_tokens=4)


def test_a_model_answers_its_text_and_unknown_tokens_stay_unknown(started: Started) -> None:
    call = started("model")
    responses = [call("hello"), call("hello")]
    assert [response.output for response in responses] == ["one", "two"]
    assert responses[0].messages == [{"role": "assistant", "content": "one"}]
    assert (responses[0].tool_calls, responses[0].usage) == ([], None)


@pytest.mark.parametrize(
    ("attribute", "value", "output"),
    [
        pytest.param("add", {"a": 1, "b": 2}, 3, id="tool"),
        pytest.param("later", {"a": 1}, {"a": 1}, id="coroutine-tool"),
        pytest.param("listed", "hello", "listed", id="list-of-messages"),
        pytest.param("duck", 1, {"duck": 1}, id="anything-with-invoke"),
    ],
)
def test_the_output_of_other_runnables(started: Started, attribute: str, value: Any, output: Any) -> None:
    assert started(attribute)(value).output == output


def test_a_message_deep_in_an_answer_is_written_out(started: Started) -> None:
    output = started("both")("hello").output
    assert output["length"] == 5
    assert (output["raw"]["type"], output["raw"]["content"]) == ("ai", "raw")


def test_an_envelope_is_read(started: Started) -> None:
    response = started("envelope")([1])
    assert (response.output, response.cost_usd, response.usage) == ([1], 0.5, Usage(prompt_tokens=9))


def test_a_call_that_the_model_wrote_unreadably_is_kept_as_it_was(started: Started) -> None:
    response = started("broken_call")("go")
    assert response.messages is not None
    assert response.messages[0]["tool_calls"][0]["function"] == {"name": "add", "arguments": '{"a": '}
    assert response.tool_calls is not None
    assert [(call.name, call.arguments) for call in response.tool_calls] == [("add", '{"a": ')]


def test_p59_the_config_reaches_the_runnable(started: Started) -> None:
    config = {"recursionLimit": 7, "configurable": {"user": "u"}, "tags": ["t"], "metadata": {"m": 1}}
    assert started("configured", invokeConfig=config)("go").output == [7, {"user": "u"}, ["t"], 1]


def test_p59_the_method_is_the_one_that_was_chosen(started: Started) -> None:
    assert started("hangs", call="invoke")("go").output == 1


@pytest.mark.parametrize(
    ("attribute", "config", "message"),
    [
        pytest.param("uncompiled", {}, "is a graph that is not compiled; name what its compile", id="uncompiled"),
        pytest.param("function", {}, "is a function without ainvoke or invoke; name a Runnable", id="function"),
        pytest.param("Duck", {}, "is a class; name an instance of it", id="class"),
        pytest.param("duck", {"call": "ainvoke"}, "without ainvoke; name a Runnable", id="no-such-method"),
        pytest.param(
            "duck", {"invokeConfig": {"tags": ["t"]}}, "takes no config, and adapterConfig.invokeConfig", id="no-config"
        ),
    ],
)
def test_what_is_no_runnable_is_said(started: Started, attribute: str, config: dict[str, Any], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        started(attribute, **config)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        pytest.param({"invokeConfig": {"recursion_limits": 3}}, "did you mean 'recursionLimit'", id="p60-unknown"),
        pytest.param({"invokeConfig": {"recursionLimit": 0}}, "invokeConfig.recursionLimit", id="no-recursion"),
        pytest.param({"call": "stream"}, "adapterConfig.call", id="method"),
        pytest.param({"inputKeys": "x"}, "did you mean 'inputKey'", id="p60-misspelt"),
    ],
)
def test_a_wrong_configuration_is_found_before_the_run(tmp_path: Path, config: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_skill(make_skill("langchain", "agent:graph", config, tmp_path))
