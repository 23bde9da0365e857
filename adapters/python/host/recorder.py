"""What code reports of a run while it goes on: the recorder for the user's own code, and a handler for LangChain's callbacks.

Standard library only, like everything of the host: this file may run in an interpreter that has nothing else of ours.
"""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from eval_skills.adapters.python.host.answer import is_message, plain
from eval_skills.adapters.python.host.errors import NotJson

Report = Callable[[dict[str, Any]], None]
"""Takes parts of an envelope, as JSON has them."""

_here: ContextVar[Report | None] = ContextVar("eval_skills_report", default=None)
_running: list[Report] = []
"""Those of all calls that are running in this process."""
_OF_MESSAGES = ("tool_calls", "invalid_tool_calls")
"""Where a message of LangChain has the calls of the model."""
_everywhere: list[Report] = []
"""The recorder of a process that answers one call at a time: whatever thread reports, it is that call's."""


def record_tool_call(
    name: str, arguments: Any = None, *, call_id: str | None = None, result: Any = None, error: str | None = None
) -> bool:
    """Say that the running skill calls the tool `name`, best just before it does.

    The call is kept however the run ends: with an answer, an exception, at its time limit or by a kill. An answer that lists
    its own `toolCalls` is completed by tools that were recorded and do not stand there. What of `arguments` and `result` JSON
    cannot say is left out. Outside an evaluation it does nothing; the value says whether the call was recorded.

    In a process that answers several calls at a time (`eval_skills.evaluate` with functions), threads of your own must run in a
    copy of the context (``contextvars.copy_context().run``) to be assigned to their call. A call from any other thread may be
    that of each item that is running, so for all of these it is unknown what they called.

    While the skill is loaded (the import of its module, the making of its class) no item is running: a call that is recorded then
    would be nobody's, so loading fails, and each item says why.

    Raises:
        TypeError: `name` is not a text.
        RuntimeError: the skill is still being loaded.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a tool is a text, not {name!r}")
    if (report := _here.get() or next(iter(_everywhere), None)) is None:
        _report_unassigned(name)
        return False
    call = {"name": name, "arguments": arguments, "id": call_id, "result": result, "error": error}
    report({"toolCalls": [{key: value for key, part in call.items() if (value := _written(part)) is not None}]})
    return True


def _report_unassigned(name: str) -> None:
    """A call without a name for each call that is running: what it called is unknown then."""
    advice = "run the thread's work in contextvars.copy_context().run"
    problem = f"{name!r} was recorded in a thread that belongs to no item, while this one ran; {advice}"
    for report in [*_running]:
        report({"toolCalls": [{"name": "", "error": problem}]})


def current_report() -> Report:
    """Where what is recorded here and now goes; nowhere outside a call."""
    return _here.get() or (lambda parts: None)


@contextlib.contextmanager
def reporting(report: Report) -> Iterator[None]:
    """Whatever is recorded in this context goes to `report`."""
    token = _here.set(report)
    try:
        yield
    finally:
        _here.reset(token)


@contextlib.contextmanager
def running(report: Report) -> Iterator[None]:
    """Meanwhile a call is running that what is recorded outside of every context may belong to."""
    _running.append(report)
    try:
        yield
    finally:
        _running.remove(report)


def report_everything(report: Report) -> None:
    """Whatever is recorded in this process goes to `report`, from any thread."""
    _everywhere[:] = [report]


def callback_handler(usages: list[Any], report: Report) -> Any:
    """A handler for LangChain's callbacks: it notes the tokens of every model call in `usages`, and reports each message of a
    model, each call of which it streams the name, for the rest may never come, and each tool that starts without a model having
    asked for it; None where LangChain is not loaded.

    Its `stopped` are the breakpoints at which graphs stopped (``interrupt_before``, ``interrupt_after``), where LangGraph tells.
    """
    of_chains = getattr(sys.modules.get("langchain_core.callbacks.base"), "BaseCallbackHandler", None)
    base = getattr(sys.modules.get("langgraph.callbacks"), "GraphCallbackHandler", of_chains)
    if base is None:
        return None
    asked: Counter[str] = Counter()

    def on_llm_new_token(_: Any, token: Any = "", *, chunk: Any = None, **__: Any) -> None:
        streamed = _calls(getattr(chunk, "message", None), "tool_call_chunks")
        # by its id it is known in the message
        if begun := [{"name": _name(call), "id": str(call["id"])} for call in streamed if call.get("name") and call.get("id")]:
            report({"toolCalls": begun})

    def on_llm_error(_: Any, __: Any, *, response: Any = None, **___: Any) -> None:
        if response is not None:  # what was streamed before; messages without a call are the library's own, on the error
            note([message for message in _messages_of(response) if any(_calls(message, key) for key in _OF_MESSAGES)])

    def on_llm_end(_: Any, end: Any, **__: Any) -> None:
        note(_messages_of(end))

    def note(messages: list[Any]) -> None:
        usages.extend(usage for message in messages if (usage := getattr(message, "usage_metadata", None)))
        for message in filter(is_message, messages):
            asked.update(_name(call) for key in _OF_MESSAGES for call in _calls(message, key))
            report({"messages": [_written_message(message)]})

    def on_tool_start(_: Any, serialized: Any, text: str, *, inputs: Any = None, **more: Any) -> None:
        name = str((serialized or {}).get("name") or more.get("name") or "")
        if asked[name] > 0:
            asked[name] -= 1
            return
        arguments = _written(inputs if inputs is not None else text)
        report({"toolCalls": [{"name": name, "arguments": arguments, "id": str(more.get("run_id"))}]})

    stopped: list[str] = []

    def on_interrupt(_: Any, event: Any) -> None:
        if not event.interrupts:  # those of `interrupt()` are in the answer
            stopped.append(str(event.status))

    def on_resume(_: Any, __: Any) -> None:
        stopped.clear()  # code of the skill's own went on with it

    # inline: a handler of the asynchronous kind would else run beside the tool, which may never return
    of_models = {"on_llm_new_token": on_llm_new_token, "on_llm_end": on_llm_end, "on_llm_error": on_llm_error}
    methods = {**of_models, "on_tool_start": on_tool_start, "run_inline": True}
    of_graphs = {"on_interrupt": on_interrupt, "on_resume": on_resume, "stopped": stopped}
    return type("CallRecorder", (base,), methods | of_graphs)()


def _messages_of(end: Any) -> list[Any]:
    return [message for each in end.generations for one in each if (message := getattr(one, "message", None)) is not None]


def tools_named(parts: dict[str, Any]) -> list[str]:
    """The tools that a report of a `callback_handler` names, each once."""
    asked = [call for message in parts.get("messages", ()) for key in _OF_MESSAGES for call in message.get(key) or ()]
    return list(dict.fromkeys(map(_name, [*parts.get("toolCalls", ()), *asked])))


def _calls(message: Any, key: str) -> list[Any]:
    calls = getattr(message, key, None)
    return calls if isinstance(calls, list) else []


def _name(call: Any) -> str:
    return str(call.get("name")) if isinstance(call, dict) else ""


def _written_message(message: Any) -> Any:
    with contextlib.suppress(NotJson):
        return plain(message)
    return {"type": message.type, "content": "", "tool_calls": [{"name": _name(call)} for call in _calls(message, "tool_calls")]}


def _written(value: Any) -> Any:
    with contextlib.suppress(NotJson):
        return plain(value)
    return None
