"""Calling a Runnable, recognised by its methods: nothing of LangChain is imported here. Standard library only."""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Callable
from typing import Any

from eval_skills.adapters.python.host.answer import MESSAGE_CHARS, is_message, plain
from eval_skills.adapters.python.host.errors import NotJson, NotLoaded, Unfinished, a_type, holding
from eval_skills.adapters.python.host.recorder import Report, callback_handler

_TYPES = {"user": "human", "assistant": "ai"}


def method_of(name: str, target: Any, wanted: str | None) -> Callable[..., Any]:
    """`ainvoke`, else `invoke`, of something that LangChain would call a Runnable."""
    methods = [getattr(target, each, None) for each in ([wanted] if wanted else ["ainvoke", "invoke"])]
    method = next(filter(callable, methods), None)
    if isinstance(target, type):
        raise NotLoaded(f"{name} is a class; name an instance of it")
    if method is None and callable(getattr(target, "compile", None)):
        raise NotLoaded(f"{name} is a graph that is not compiled; name what its compile() returns")
    if method is None:
        valid = "name a Runnable, a compiled graph or a tool (for a plain function the adapterType is custom)"
        raise NotLoaded(f"{name} is {a_type(target)} without {wanted or 'ainvoke or invoke'}; {valid}")
    return method


def takes_config(method: Callable[..., Any]) -> bool:
    """Whether a method takes LangChain's `config`."""
    return "config" in inspect.signature(method).parameters


def config_of_call(
    target: Any, given: dict[str, Any], usages: list[Any], report: Report, conversation: str | None = None
) -> dict[str, Any]:
    """The config of one call. A graph with a memory gets a thread of its own, so that no item remembers another one;
    the tokens of every model call are noted in `usages`, and what is called goes to `report` when it begins.

    All turns of a `conversation` get its id as their thread, also where nothing is known of a memory, and as the session, by
    which LangChain's history of messages goes.

    Of a graph that keeps messages it is reported at once that nothing has been called yet: its calls pass the callbacks.
    """
    config = dict(given)
    if conversation is not None:
        config["configurable"] = {"thread_id": conversation, "session_id": conversation, **given.get("configurable", {})}
    elif getattr(target, "checkpointer", None):
        config["configurable"] = {"thread_id": uuid.uuid4().hex, **given.get("configurable", {})}
    if (handler := callback_handler(usages, report)) is not None:
        config["callbacks"] = [handler]
        if "messages" in (getattr(target, "channels", None) or ()):
            report({"toolCalls": []})
    return config


def state_of(target: Any, method: Callable[..., Any], options: dict[str, Any]) -> Any:
    """What a graph with a memory says of where it stands after a call, maybe to be awaited; None for anything else."""
    ask = getattr(target, "aget_state" if method.__name__ == "ainvoke" else "get_state", None)
    return ask(options["config"]) if callable(ask) and options and getattr(target, "checkpointer", None) else None


def refuse_waiting(answer: Any, state: Any, options: dict[str, Any]) -> None:
    """Refuse what a graph holds when it stopped halfway: an `interrupt()` is in its answer, a breakpoint only in its state or,
    where it keeps none, in what the callback of the call's `options` was told.

    Raises:
        Unfinished: the graph waits for an input that nobody gives.
    """
    said = answer if isinstance(answer, dict) else {}
    asked, messages = said.get("__interrupt__"), said.get("messages")
    if asked:
        wanted = [value if isinstance(value := getattr(each, "value", each), str) else repr(value) for each in asked]
        raise Unfinished(f"the graph waits for input: {'; '.join(wanted)[:MESSAGE_CHARS]}", messages)
    if following := getattr(state, "next", None):
        raise Unfinished(f"the graph waits for input: it stopped before {', '.join(map(str, following))}", messages)
    breakpoints = [each for handler in _callbacks(options) for each in getattr(handler, "stopped", ())]
    if state is None and breakpoints:
        why = "stopped there without a checkpointer to go on from; compile it without the breakpoint"
        raise Unfinished(f"the graph waits for input: it has a breakpoint ({breakpoints[0]}) and {why}", messages)


def _callbacks(options: dict[str, Any]) -> list[Any]:
    given = (options.get("config") or {}).get("callbacks")
    return given if isinstance(given, list) else []


def given_first(value: Any, messages: list[dict[str, Any]] | None) -> int:
    """How many of an answer's `messages` are those that it was given, at its beginning; 0 where they are not all there."""
    given = value.get("messages") if isinstance(value, dict) else None
    given = given if isinstance(given, list) else []
    same = messages is not None and len(given) <= len(messages) and all(map(_is_the_same, given, messages))
    return len(given) if same else 0


def _is_the_same(given: Any, message: dict[str, Any]) -> bool:
    if isinstance(given, (list, tuple)) and len(given) == 2:
        given = {"role": given[0], "content": given[1]}
    if not isinstance(given, dict) or given.get("content") != message.get("content"):
        return False
    role = given.get("role", given.get("type"))
    return isinstance(role, str) and _TYPES.get(role, role) == message.get("type")


def identities(answer: Any) -> list[str | None]:
    """The ids of an answer's messages, by which those of earlier turns are known in a thread; empty where it has no messages."""
    messages = [answer] if is_message(answer) else answer.get("messages") if isinstance(answer, dict) else answer
    return [getattr(each, "id", None) for each in messages] if isinstance(messages, list) else []


def answer_parts(answer: Any, output_key: str | None) -> dict[str, Any]:
    """An answer as `messages` (or none) and, where it has one beside them, its `value`."""
    if is_message(answer):
        return {"messages": [plain(answer)]}
    if isinstance(answer, list) and answer and all(map(is_message, answer)):
        return {"messages": plain(answer)}
    state = answer if isinstance(answer, dict) else {}
    if output_key is not None and output_key not in state:
        raise NotJson(f"the answer has no {output_key!r} (adapterConfig.outputKey){holding(list(map(str, state)))}")
    messages = state.get("messages")
    if isinstance(messages, list) and any(map(is_message, messages)):
        key = output_key or "structured_response"
        value = {"value": plain(state[key], key)} if state.get(key) is not None or output_key else {}
        return {"messages": plain(messages, "messages"), **value}
    return {"value": plain(state[output_key], output_key) if output_key is not None else plain(answer)}
