"""A skill that is a Runnable of LangChain, a compiled graph of LangGraph, or a tool."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from eval_skills.adapters.answer.envelope import read_answer
from eval_skills.adapters.config import AdapterConfig, LangchainConfig
from eval_skills.adapters.python.adapter import HostedAdapter
from eval_skills.adapters.python.langchain_messages import calls_of, final_text, in_openai_s_words, openai_message, usage_of
from eval_skills.core.models import SkillResponse

MESSAGES = "messages"


class LangchainAdapter(HostedAdapter[LangchainConfig]):
    """Calls `ainvoke`, or `invoke` where there is no other (`call` chooses), with the task's input and `invokeConfig`.

    A graph whose state has `messages` takes a text as the user's message. Of an answer with messages the output is
    `outputKey` of the state, else its structured response, else the text of the last message of the model (those that the graph
    was given do not count); any other answer is the output itself. A graph that stopped to wait for somebody is an error.
    Tokens are those of all model calls that reported theirs.
    """

    config_model: ClassVar[type[AdapterConfig]] = LangchainConfig

    def _setup(self) -> dict[str, Any]:
        invoke_config = self._config.invoke_config.model_dump(exclude_none=True)
        how = {"call": self._config.call, "output_key": self._config.output_key, "invoke_config": invoke_config}
        return {"kind": "langchain", **how}

    def _input(self, input_data: Any) -> Any:
        return graph_input(input_data, self._config.input_key, self._loaded["channels"])

    def _known(self, error: dict[str, Any]) -> SkillResponse | None:
        known = super()._known(error)
        return known and in_openai_s_words(known)

    def _read(self, answer: Any) -> SkillResponse:
        return response_of(answer)


def response_of(answer: dict[str, Any]) -> SkillResponse:
    """The response in what `host.langchain.told` says of a call, with its `usages` and how many of its messages were `given`."""
    usage = usage_of(answer["usages"])
    if answer.get(MESSAGES) is None:
        response = read_answer(answer["value"])
        return response if response.usage is not None else response.model_copy(update={"usage": usage})
    messages = answer[MESSAGES]
    return SkillResponse(
        output=answer["value"] if "value" in answer else final_text(messages[answer["given"] :]),
        messages=[openai_message(message) for message in messages],
        tool_calls=calls_of(messages),
        usage=usage or usage_of([message.get("usage_metadata") for message in messages]),
    )


def graph_input(value: Any, key: str | None, channels: list[str]) -> Any:
    """The task's input as a Runnable takes it; `channels` are the parts of a graph's state.

    Without a `key` a graph whose state has `messages` gets a text, a list of messages, or an object's only text (under a key
    that is no part of the state) as its messages, and everything else is passed on as it is. With a `key` every input but an
    object that has it goes under it; under `messages` as messages: what is neither text nor a list as its JSON text.
    """
    is_state = isinstance(value, dict) and (key or MESSAGES) in value
    if is_state or (key is None and MESSAGES not in channels):
        return value
    if key not in (None, MESSAGES):
        return {key: value}
    if isinstance(value, dict) and len(value) == 1 and not value.keys() & set(channels):
        only = next(iter(value.values()))
        value = only if isinstance(only, str) else value
    if isinstance(value, dict) and key is None:
        return value
    return {MESSAGES: value if isinstance(value, list) else [{"role": "user", "content": _text(value)}]}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
