"""Tool calls in the notations in which answers bring them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from eval_skills.adapters.answer.envelope import parse_json
from eval_skills.core.messages.tool_results import results_of
from eval_skills.core.models import ToolCall
from eval_skills.core.models.response import ARGUMENTS_KEYS

_NAMES = ("name", "toolName", "tool_name", "tool")
_IDS = ("call_id", "toolCallId", "tool_call_id", "id")


def tool_call_of(raw: Any) -> ToolCall:
    """A call in OpenAI's notation (a `function` or `custom` tool), Anthropic's (`input`), or our own.

    Arguments that are the JSON text of an object are read; any other text stays as it is. A call that names no tool has an empty
    name, for what was called is unknown then; it is never left out.
    """
    given = raw if isinstance(raw, dict) else {}
    call = next((given[key] for key in ("function", "custom") if isinstance(given.get(key), dict)), given)
    name = next((call[key] for key in _NAMES if isinstance(call.get(key), str)), "")
    identity = next((given[key] for key in _IDS if isinstance(given.get(key), str)), None)
    arguments = next((call[key] for key in ARGUMENTS_KEYS if key in call), None)
    error = given.get("error")
    said = {"error": error if isinstance(error, str) else str(error)} if error else {}
    result = {"result": given["result"]} if "result" in given else {}
    return ToolCall(name=name, arguments=read_arguments(arguments), id=identity, **said, **result)


def with_results(calls: Iterable[ToolCall], blocks: list[Any]) -> list[ToolCall]:
    """The calls, each with the result or the error that one of the `blocks` of the same message has for its id."""
    answers = {result.call_id: result for result in results_of({"content": blocks}, "assistant") if result.call_id}
    done = []
    for call in calls:
        answer = answers.get(call.id or "")
        said = {} if answer is None else {"error": answer.error} if answer.error else {"result": answer.content}
        done.append(call.model_copy(update=said))
    return done


def read_arguments(arguments: Any) -> Any:
    """Arguments that are the JSON text of an object, as that; any other text and anything else as it is."""
    if not isinstance(arguments, str):
        return arguments
    try:
        read = parse_json(arguments.encode())
    except ValueError:
        return arguments
    return read if isinstance(read, dict) else arguments
