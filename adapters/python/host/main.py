"""The program that runs a skill's own Python code, in whatever interpreter the skill names. Standard library only.

It speaks the protocol of a persistent subprocess: a JSON-RPC request a line, an answer a line. The first request names what to
load and is answered when that can be called; every later one is a call, with the input as its params. Answers alone leave by
the standard output it was given: what the code prints goes to standard error, and what it reads is empty.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import importlib.machinery
import importlib.util
import inspect
import io
import json
import os
import queue
import signal
import sys
import threading
import time
import types
from collections.abc import Callable
from typing import Any, BinaryIO

if __name__ == "__main__":  # run by its path, maybe where this package is not installed: let its other files be found for now
    _PACKAGES = ("eval_skills", "eval_skills.adapters", "eval_skills.adapters.python", "eval_skills.adapters.python.host")
    for _name in _PACKAGES:
        sys.modules[_name] = types.ModuleType(_name)
    sys.modules[_name].__path__ = [os.path.dirname(os.path.abspath(__file__))]

from eval_skills.adapters.python.host.answer import Pieces, error_data, plain
from eval_skills.adapters.python.host.errors import NotJson, NotLoaded, TooLong, Unfinished, described, show_traceback
from eval_skills.adapters.python.host.langchain import (
    answer_parts,
    config_of_call,
    given_first,
    identities,
    method_of,
    refuse_waiting,
    state_of,
    takes_config,
)
from eval_skills.adapters.python.host.recorder import Report, record_tool_call, report_everything, tools_named
from eval_skills.adapters.python.host.target import (
    callable_of,
    conversation_argument,
    find,
    keywords,
    refuse_other_than_one_argument,
    takes_conversation,
)

if __name__ == "__main__":  # and let the skill import the real ones, if there are any
    for _name in _PACKAGES:
        del sys.modules[_name]
    if importlib.util.find_spec("eval_skills") is None:  # the recorder can be imported from there in any interpreter
        _stand_in = sys.modules["eval_skills"] = types.ModuleType("eval_skills")
        _stand_in.__spec__ = importlib.machinery.ModuleSpec("eval_skills", None)
        _stand_in.record_tool_call = record_tool_call  # type: ignore[attr-defined]

RAISED, NOT_JSON, NOT_LOADED, TOO_LONG = -32000, -32001, -32002, -32003
"""Codes of error replies: the code raised, its answer is not JSON, it cannot be loaded, its generator gave too much."""

GRACE_S = 0.3
"""How long everything may tidy up when the requests end."""

Function = Callable[[Any, Any], Any]
"""Gets the input, and the data of the conversation (None outside of one)."""


class Host:
    """Loads one target and calls it, one request after the other; coroutines run on one event loop."""

    def __init__(self, write: Callable[[dict[str, Any]], None]) -> None:
        self.busy = threading.Event()
        self._write = write
        self._request_id: Any = None
        self._call: Function | None = None
        self._max_reported: int | None = None
        self._max_bytes: int | None = None
        self._called_early: list[str] = []
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to `request`."""
        self.busy.set()
        self._request_id = request["id"]
        try:
            reply = {"result": self._result_of(request)}
        except NotLoaded as error:
            reply = {"error": {"code": NOT_LOADED, "message": str(error)}}
        except NotJson as error:
            reply = {"error": {"code": NOT_JSON, "message": str(error)}}
        except TooLong:
            reply = {"error": {"code": TOO_LONG, "message": "the answer is too long"}}
        except Unfinished as error:
            reply = {"error": {"code": RAISED, "message": str(error), **error_data(error, self._max_reported)}}
        except BaseException as error:  # noqa: BLE001 - whatever the skill raises, even SystemExit, is its answer
            show_traceback(error)
            reply = {"error": {"code": RAISED, "message": described(error), **error_data(error, self._max_reported)}}
        self.busy.clear()
        return {"jsonrpc": "2.0", "id": request["id"], **reply}

    def _result_of(self, request: dict[str, Any]) -> Any:
        if self._call is None:
            return self._load(request["params"])
        return self._call(request["params"], request.get("conversation"))

    def report(self, parts: dict[str, Any]) -> None:
        """Tell what was just called, before it is: nothing else may ever be heard of this call.

        Raises:
            RuntimeError: the code is still being loaded, for all items to come: the call is that of none, and loading fails.
        """
        if self._call is None:
            self._called_early += [str(call.get("name")) for call in parts.get("toolCalls", ())]
            raise RuntimeError(_too_early(self._called_early))
        params = {"requestId": self._request_id, **parts}
        self._write({"jsonrpc": "2.0", "method": "progress", "params": params})

    def _report_of_this_call(self) -> Report:
        """Where the callbacks of the call that is answered now report. One that comes when another is answered, from a task or a
        thread that the first left behind, may be of either: what the other called is unknown then.
        """
        its_id = self._request_id

        def report(parts: dict[str, Any]) -> None:
            if its_id == self._request_id:
                self.report(parts)
            elif names := tools_named(parts):
                self.report({"toolCalls": [{"name": "", "error": _left_behind(names)}]})

        return report

    def _load(self, setup: dict[str, Any]) -> dict[str, Any]:
        self._max_reported, self._max_bytes = setup.get("max_reported"), setup.get("max_bytes")
        name = f"{setup['place']}:{setup['attribute']}"
        target = find(setup["place"], setup["attribute"])
        if setup["kind"] == "langchain":
            runnable = self._runnable(name, target, setup)
            self._refuse_early_calls()
            self._call = runnable
            return {"channels": sorted(map(str, getattr(target, "channels", None) or ())), "takes_conversation": True}
        function = callable_of(name, target, setup["init"])
        call = self._function(name, function, setup)
        self._refuse_early_calls()
        self._call = call
        return {"channels": [], **({"takes_conversation": True} if takes_conversation(function) else {})}

    def _refuse_early_calls(self) -> None:
        if self._called_early:  # and the skill's code has gone on after the exception
            raise NotLoaded(_too_early(self._called_early))

    def _function(self, name: str, function: Callable[..., Any], setup: dict[str, Any]) -> Function:
        if setup["spread"]:
            return lambda value, conversation: plain(
                self._finished(function(**{**conversation_argument(function, conversation), **keywords(value)}))
            )
        refuse_other_than_one_argument(name, function)
        return lambda value, conversation: plain(self._finished(function(value, **conversation_argument(function, conversation))))

    def _runnable(self, name: str, target: Any, setup: dict[str, Any]) -> Function:
        method = method_of(name, target, setup["call"])
        configurable = takes_config(method)
        if setup["invoke_config"] and not configurable:
            raise NotLoaded(f"{name} takes no config, and adapterConfig.invokeConfig gives one; remove that")

        def call(value: Any, conversation: Any) -> Any:
            usages: list[Any] = []
            thread = conversation and conversation["id"]
            report = self._report_of_this_call()
            config = config_of_call(target, setup["invoke_config"], usages, report, thread) if configurable else None
            options = {"config": config} if config is not None else {}
            answer = self._finished(method(value, **options))
            refuse_waiting(answer, self._finished(state_of(target, method, options)), options)
            said = answer_parts(answer, setup["output_key"])
            said |= {"ids": identities(answer)} if conversation else {}
            return {**said, "usages": plain(usages), "given": given_first(value, said.get("messages"))}

        return call

    def _finished(self, result: Any) -> Any:
        """`result` awaited, and collected into a list if it is a generator."""
        if inspect.isawaitable(result):
            result = self._loop.run_until_complete(awaited(result))
        pieces = Pieces(self._max_bytes)
        if inspect.isasyncgen(result):
            self._loop.run_until_complete(collect(result, pieces))
            return pieces.values
        if inspect.isgenerator(result):
            with contextlib.closing(result):
                for piece in result:
                    pieces.add(piece)
            return pieces.values
        return result


def _too_early(names: list[str]) -> str:
    tools = ", ".join(dict.fromkeys(names))
    return f"record_tool_call({tools}) ran while the skill was loaded, which is for no item; call it where an item is answered"


def _left_behind(names: list[str]) -> str:
    tools = ", ".join(map(repr, names))
    return f"{tools} was called by what an earlier item had left running, while this one ran; await all that an item starts"


async def awaited(result: Any) -> Any:
    """The result of an awaitable."""
    return await result


async def collect(given: Any, pieces: Pieces) -> None:
    """Add all that an asynchronous generator gives to `pieces`."""
    async with contextlib.aclosing(given):
        async for piece in given:
            pieces.add(piece)


def private_streams() -> tuple[BinaryIO, BinaryIO]:
    """The standard input and output, which nothing else uses from now on."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    return requests, answers


def signal_group(number: int) -> None:
    """Signal everything that was started here, and this process, if it leads a group of its own."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, number)


def flush() -> None:
    """Let go of what was printed without a line's end; the skill may have closed or replaced the stream."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()


def leave() -> None:
    """The last thing at the end: leave nothing behind, for the process that started this may be gone."""
    flush()
    signal_group(signal.SIGKILL)


def read(requests: BinaryIO, lines: queue.SimpleQueue[bytes | None], busy: threading.Event) -> None:
    """Pass the requests on; when they end the run is over or gone, whatever the skill is doing."""
    for line in requests:
        lines.put(line)
    lines.put(None)
    if busy.is_set():
        signal_group(signal.SIGTERM)
    time.sleep(GRACE_S)
    signal_group(signal.SIGKILL)


def main() -> None:
    """Answer until the requests end."""
    atexit.register(leave)
    requests, answers = private_streams()
    sys.path.insert(0, os.getcwd())
    pid, writing = os.getpid(), threading.Lock()

    def write(message: dict[str, Any]) -> None:
        line = json.dumps(message).encode() + b"\n"
        with writing:
            answers.write(line)
            answers.flush()

    host = Host(write)
    report_everything(host.report)
    lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    threading.Thread(target=read, args=(requests, lines, host.busy), daemon=True).start()
    for line in iter(lines.get, None):
        answer = host.answer(json.loads(line))
        flush()
        if os.getpid() != pid:  # a process that the skill forked came back here
            os._exit(1)
        write(answer)


if __name__ == "__main__":
    main()
