"""Calling what LangChain calls a Runnable, known by its ducks: nothing of LangChain is imported here. Standard library only."""

from __future__ import annotations

import inspect
import itertools
import sys
import uuid
from collections.abc import Callable
from typing import Any

from eval_skills.adapters.host_answer import is_message, plain
from eval_skills.adapters.host_words import NotJson, NotLoaded, a_type, holding


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


def config_of_call(target: Any, given: dict[str, Any], usages: list[Any]) -> dict[str, Any]:
    """The config of one call. A graph with a memory gets a thread of its own, so that no item remembers another one;
    the tokens of every model call are noted in `usages`.
    """
    config = dict(given)
    if getattr(target, "checkpointer", None):
        config["configurable"] = {"thread_id": uuid.uuid4().hex, **given.get("configurable", {})}
    base = getattr(sys.modules.get("langchain_core.callbacks.base"), "BaseCallbackHandler", None)
    if base is not None:
        config["callbacks"] = [type("TokenMeter", (base,), {"on_llm_end": lambda _, end, **__: usages.extend(usages_of(end))})()]
    return config


def usages_of(result: Any) -> list[Any]:
    """The usage metadata of a model's result, where it reports any."""
    messages = (getattr(each, "message", None) for each in itertools.chain.from_iterable(result.generations))
    return [usage for message in messages if (usage := getattr(message, "usage_metadata", None))]


def told(answer: Any, output_key: str | None) -> dict[str, Any]:
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
