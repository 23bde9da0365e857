"""A skill that is a Runnable of LangChain, a compiled graph of LangGraph, or a tool; its messages as OpenAI-style ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from eval_skills.adapters.answer.envelope import read_answer
from eval_skills.adapters.call import Call
from eval_skills.adapters.config import LangchainConfig
from eval_skills.adapters.conversation import Conversation
from eval_skills.adapters.python.adapter import HostedAdapter
from eval_skills.core.errors import ContractError
from eval_skills.core.messages.blocks import is_text, refusal_in, text_of
from eval_skills.core.messages.roles import finish_reason_of
from eval_skills.core.messages.tool_calls import calls_as_written, tool_call
from eval_skills.core.messages.tool_results import ToolResult, results_of
from eval_skills.core.models import SkillResponse, ToolCall, Usage

MESSAGES = "messages"
_ROLES = {"ai": "assistant", "human": "user"}

_OF_CALLS = ("tool_calls", "invalid_tool_calls", "additional_kwargs")
"""Where a message of LangChain may have calls, beside its content."""


class LangchainAdapter(HostedAdapter[LangchainConfig]):
    """Calls `ainvoke`, or `invoke` where there is no other (`call` chooses), with the task's input and `invokeConfig`.

    A graph whose state has `messages` takes a text as the user's message. Of an answer with messages the output is
    `outputKey` of the state, else its structured response, else the text of the last message of the model (those that the graph
    was given do not count); any other answer is the output itself. A graph that stopped to wait for input is an error.
    Tokens are those of all model calls that reported theirs.
    """

    config_model = LangchainConfig

    def _setup(self) -> dict[str, Any]:
        invoke_config = self._config.invoke_config.model_dump(exclude_none=True)
        how = {"call": self._config.call, "output_key": self._config.output_key, "invoke_config": invoke_config}
        return {"kind": "langchain", **how}

    def _input(self, input_data: Any) -> Any:
        return graph_input(input_data, self._config.input_key, self._loaded["channels"])

    def _conversation_data(self, call: Call) -> dict[str, Any] | None:
        return None if call.conversation is None else {"id": call.conversation.id}  # a thread has a memory of its own

    def _new_in(self, answer: Any, call: Call) -> Any:
        return answer if call.conversation is None else without_earlier(answer, call.conversation)

    def _known(self, error: dict[str, Any]) -> SkillResponse | None:
        known = super()._known(error)
        return known and as_openai(known)

    def _reported(self, call: Call) -> SkillResponse | None:
        return reported_by_callbacks(super()._reported(call), of_graph=MESSAGES in (self._loaded.get("channels") or ()))

    def _read(self, answer: Any) -> SkillResponse:
        return response_of(answer)


def response_of(answer: dict[str, Any]) -> SkillResponse:
    """The response in the `answer_parts` of a call, with its `usages` and how many of its messages were `given`."""
    usage = usage_of(answer["usages"])
    if answer.get(MESSAGES) is None:
        response = read_answer(answer["value"])
        return response if response.usage is not None else response.model_copy(update={"usage": usage})
    messages = answer[MESSAGES]
    return SkillResponse(
        output=answer["value"] if "value" in answer else final_text(messages[answer["given"] :]),
        messages=[openai_message(message) for message in messages],
        tool_calls=calls_of(messages),
        finish_reason=finish_reason_of(messages[answer["given"] :]),
        usage=usage or usage_of([message.get("usage_metadata") for message in messages]),
    )


def without_earlier(answer: dict[str, Any], conversation: Conversation) -> dict[str, Any]:
    """An answer of a graph without the messages of earlier turns, which a thread repeats: those that were there before, by
    their ids."""
    messages = answer.get(MESSAGES)
    if messages is None:
        return answer
    pairs = list(zip(messages, answer["ids"], strict=True))
    new = [message for message, its_id in pairs if its_id is None or conversation.seen.get(its_id) != message]
    conversation.seen |= {its_id: message for message, its_id in pairs if its_id is not None}
    return answer | {MESSAGES: new, "given": max(0, answer["given"] - (len(messages) - len(new)))}


def graph_input(value: Any, key: str | None, channels: list[str]) -> Any:
    """The task's input as a Runnable takes it; `channels` are the parts of a graph's state.

    Without a `key` a graph whose state has `messages` gets a text, a list of messages, or an object's only text (under a key
    that is not part of the state) as its messages, and everything else is passed on as it is. With a `key` every input but an
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


def openai_message(message: dict[str, Any]) -> dict[str, Any]:
    """`message` with role, content and, where it has them, tool calls whose arguments are JSON text.

    A content of several texts becomes one text; other parts (images) stay only in messages that no model wrote. A call that
    the model wrote unreadably keeps its arguments as they were. Calls that the model's service ran itself (a web search) stand in
    the content, and are calls as well. What is not a message of LangChain is passed on.
    """
    if "type" not in message:
        return message
    role = _role(message)
    spoken: dict[str, Any] = {"role": role, "content": _content(message, role)}
    spoken |= {key: message[key] for key in ("name", "tool_call_id") if message.get(key) is not None}
    if refusal := refusal_in(message):
        spoken["refusal"] = refusal
    if calls := _calls(message):
        spoken["tool_calls"] = [_openai_call(call) for call in calls]
    return spoken


def calls_of(messages: list[dict[str, Any]]) -> list[ToolCall]:
    """All tool calls in order, each with the result or the error that a tool's message, or a block beside it, has for its id."""
    answers = {result.call_id: result for result in _results(messages)}
    asked = [call for message in messages for call in _calls(message)]
    return [_tool_call(call, answers.get(call.get("id")) if call.get("id") else None) for call in asked if _is_native(call)]


def as_openai(known: SkillResponse) -> SkillResponse:
    """What an error reported, with its messages as `openai_message` writes them and, unless it reported those itself, their calls
    and tokens; unchanged where that cannot be done, for code may have messages of its own kind.
    """
    reported = known.messages or []
    if not all(isinstance(message.get("type"), str) for message in reported):
        return known
    try:
        return SkillResponse(
            messages=known.messages and [openai_message(message) for message in reported],
            tool_calls=known.tool_calls or (calls_of(reported) if reported else known.tool_calls),
            usage=known.usage or usage_of([message.get("usage_metadata") for message in reported]),
            cost_usd=known.cost_usd,
        )
    except (AttributeError, TypeError, ValidationError):
        return known


def reported_by_callbacks(reported: SkillResponse | None, *, of_graph: bool) -> SkillResponse | None:
    """What was reported while it worked, in our own form: the calls of the models' messages before those that are in none (no
    model asked for them, or its message broke off), and the tokens of all models.

    Only of a graph that keeps messages, which reported an empty list at its start, does the lack of calls say that there were
    none, and are the messages all there are: anything else may call tools that no callback sees.
    """
    if reported is None or not reported.messages:
        return reported
    of_models = as_openai(reported.model_copy(update={"tool_calls": None}))
    calls = of_models.tool_calls or []
    asked = {call.id for call in calls} - {None}
    calls = [*calls, *(call for call in reported.tool_calls or () if call.id not in asked)]
    if of_graph:
        return of_models.model_copy(update={"tool_calls": calls})
    return of_models.model_copy(update={"tool_calls": calls or None, "messages": None})


def final_text(messages: list[dict[str, Any]]) -> str:
    """The text of the model's last message, or with which it refuses.

    Raises:
        ContractError: there is no message of a model; those of a user, a tool or the system are not an answer.
    """
    spoken = [message for message in messages if _role(message) == "assistant"]
    if not spoken:
        others = ", ".join(dict.fromkeys(map(_role, messages)))
        raise ContractError(f"the answer has no message of the model{others and f'; its new messages are from: {others}'}")
    return text_of(spoken[-1].get("content")) or refusal_in(spoken[-1])


def usage_of(usages: list[dict[str, Any] | None]) -> Usage | None:
    """The sum of LangChain's usage metadata. None where none was reported, and where something in it is not a number of tokens:
    a part of them would look like all, and a right answer is not lost for its count."""
    known = [usage for usage in usages if usage]
    if not known:
        return None
    try:
        prompt, completion = (sum(_count(usage.get(key)) for usage in known) for key in ("input_tokens", "output_tokens"))
        return Usage(prompt_tokens=prompt, completion_tokens=completion)
    except (AttributeError, ValueError):
        return None


def _count(found: Any) -> int:
    """Raises ValueError where it is not a count."""
    if found is None:
        return 0
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        raise ValueError(f"not a number of tokens: {str(found)[:40]!r}")
    return found


def _role(message: dict[str, Any]) -> str:
    kind = str(message.get("type", message.get("role", ""))).removesuffix("MessageChunk").lower()
    return str(message.get("role") or "user") if kind == "chat" else _ROLES.get(kind, kind)


def _content(message: dict[str, Any], role: str) -> Any:
    content = message.get("content")
    if role == "assistant" or (isinstance(content, list) and all(map(is_text, content))):
        return text_of(content)
    return content


def _calls(message: dict[str, Any]) -> list[Any]:
    """The calls of a model's message in whatever notation, each once: those that its service ran itself, and the provider's own
    that stand in `tool_calls` as a rule, count where they do not, too. Those of its content that no list repeats come first.
    """
    listed = [*_list(message, "tool_calls"), *_list(message, "invalid_tool_calls")]
    if _role(message) != "assistant":
        return listed
    held = {key: message[key] for key in _OF_CALLS if message.get(key)}
    further = calls_as_written({"role": "assistant", "content": message.get("content"), **held})[len(listed) :]
    return [*map(_noted, further), *listed]


def _noted(raw: Any) -> Any:
    """A call of another notation as LangChain notes it; unchanged where it names no tool."""
    call = tool_call(raw)
    return raw if call is None else {"name": call.name, "args": call.arguments, "id": call.id}


def _results(messages: list[dict[str, Any]]) -> Iterator[ToolResult]:
    """What tools answered: those of the model's service in its own messages, all others in messages of theirs."""
    for message in messages:
        if (role := _role(message)) == "assistant":
            yield from results_of({"content": _list(message, "content")}, role)
        elif role == "tool":
            text = text_of(message.get("content"))
            yield ToolResult(None, message.get("tool_call_id"), text, text if message.get("status") == "error" else "")


def _list(message: dict[str, Any], key: str) -> list[Any]:
    value = message.get(key)
    return value if isinstance(value, list) else []


def _openai_call(call: dict[str, Any]) -> dict[str, Any]:
    if not _is_native(call):
        return call
    arguments = call.get("args")
    text = arguments if isinstance(arguments, str) else json.dumps({} if arguments is None else arguments, ensure_ascii=False)
    return {"id": call.get("id"), "type": "function", "function": {"name": call["name"], "arguments": text}}


def _is_native(call: Any) -> bool:
    return isinstance(call, dict) and isinstance(call.get("name"), str)


def _tool_call(call: dict[str, Any], answer: ToolResult | None) -> ToolCall:
    said = {} if answer is None else {"error": answer.error} if answer.error else {"result": answer.content}
    return ToolCall(name=call["name"], arguments=call.get("args"), id=call.get("id"), **said)
