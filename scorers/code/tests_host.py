"""The program that runs the tests of a task against a solution in another process. Standard library only.

Request, a line of JSON on standard input: ``{"entryPoint", "prompt", "setup", "test", "programs"}``. The first line of the answer
is ``started``, or ``no solution`` where the process of the solution has not said that it runs. The second is JSON:
``{"passed": true}``, ``{"failed": message}`` or ``{"broken": message}`` where the tests themselves cannot be run.

The solution is reached through two pipes, whose numbers are the arguments. Its functions are called there, and nothing of it runs
here: it can neither end this process nor change what a test compares. What it returns is plain data.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from solution import RUNS, plain, receive, send  # type: ignore[import-not-found]


class SolutionEnded(BaseException):
    """The process of the solution is gone, wants to be, or says nothing that can be read. No test can expect it."""


def main() -> None:
    """Answer the request."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    solution = Solution(*map(int, sys.argv[1:3]))
    runs = solution.runs()
    answers.write("started\n" if runs else "no solution\n")
    answers.flush()
    for stream in (1, 2):  # what tests print is for nobody, and must not fill a pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    if runs:
        answers.write(json.dumps(_verdict(json.loads(sys.stdin.readline()), solution)) + "\n")
    answers.close()


def _verdict(request: dict[str, Any], solution: Solution) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "tests"}
    try:
        if request["prompt"]:  # its helpers are those that the tests use
            exec(compile(request["prompt"], "prompt", "exec"), names)  # noqa: S102
        exec(compile(request["setup"], "setup", "exec"), names)  # noqa: S102
    except BaseException as error:  # noqa: BLE001 - whatever they raise, the task is at fault
        return {"broken": f"{type(error).__name__}: {error}"}
    try:
        found = solution.load(request["programs"])
    except SolutionEnded as error:
        return {"failed": str(error)}
    if "error" in found:
        return {"failed": f"the solution does not load: {found['error']}"}
    entry, offered = request["entryPoint"], found["value"]
    if entry and entry not in offered:
        return {"failed": f"the solution defines no function {entry}"}
    try:
        own = [entry] if entry else _asked_for(request["test"], offered, names)
    except Ambiguous as error:
        return {"broken": str(error)}
    names |= {name: solution.function(name) for name in own}
    found = _tested(request["test"], entry, names)
    return {"failed": solution.ended} if solution.ended and found.get("passed") else found


class Ambiguous(Exception):
    """It is not known which function the tests mean."""


def _asked_for(test: str, offered: list[str], names: dict[str, Any]) -> list[str]:
    """Those functions of the solution that the tests mean. A function called like one of Python's own (``sum``) stands for it
    only where it is all that the tests call: else a solution would bring its own ``set`` to be compared with.

    Raises:
        Ambiguous: they call several of Python's own functions, and nothing else that could be the solution's.
    """
    nodes = list(ast.walk(ast.parse(test)))
    used = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    builtin = {name for name in used if hasattr(builtins, name)}
    meant = [name for name in offered if name not in names and not hasattr(builtins, name)]
    if used - builtin - _defined(nodes) - names.keys():
        return meant
    called = sorted({node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)} & builtin)
    if len(called) > 1 and set(called) & set(offered):
        raise Ambiguous(f"they call {' and '.join(called)}, and which of them is to be tested is not said; name it in entryPoint")
    return [*meant, *(name for name in called if name in offered)]


def _defined(nodes: list[ast.AST]) -> set[str]:
    """The names that tests give to something of their own."""
    found = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    found |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    found |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    found |= {node.name for node in nodes if isinstance(node, ast.ExceptHandler) and node.name}
    imported = [alias for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names]
    return found | {(alias.asname or alias.name).partition(".")[0] for alias in imported}


def _tested(test: str, entry: str, names: dict[str, Any]) -> dict[str, Any]:
    try:
        exec(compile(test, "tests", "exec"), names)  # noqa: S102
        if entry and "check" in names:
            names["check"](names[entry])
        elif entry and not _calls(test, entry):
            return {"broken": f"they define no check(candidate), and do not call {entry}"}
    except (RemoteError, SolutionEnded) as error:
        return {"failed": _said(error, test)}
    except (SyntaxError, NameError, ImportError, Unsendable) as error:
        missing = isinstance(error, NameError) and not hasattr(builtins, str(error.name)) and error.name not in names
        return {"failed" if missing and not entry else "broken": _said(error, test)}
    except BaseException as error:  # noqa: BLE001 - a failed assertion
        return {"failed": _said(error, test)}
    return {"passed": True}


def _calls(test: str, name: str) -> bool:
    calls = (node.func for node in ast.walk(ast.parse(test)) if isinstance(node, ast.Call))
    return any(isinstance(called, ast.Name) and called.id == name for called in calls)


def _said(error: BaseException, test: str) -> str:
    """The line of the tests that failed, and why."""
    lines = test.splitlines()
    places = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "tests" and frame.lineno]
    line = lines[places[-1] - 1].strip() if places and places[-1] <= len(lines) else ""
    said = str(error) if isinstance(error, RemoteError | SolutionEnded) else f"{type(error).__name__}: {error}".rstrip(": ")
    return f"{said} at {line}"[:2000] if line else said[:2000]


class Unsendable(Exception):
    """A test passes something that is not plain data."""


class RemoteError(Exception):
    """What the solution raised."""


class Solution:
    """The process of the solution. `ended` says why it cannot be asked any more; "" as long as it can: tests that catch
    everything do not see it, and yet the solution fails."""

    def __init__(self, calls: int, returned: int) -> None:
        self._calls, self._returned = os.fdopen(calls, "wb"), os.fdopen(returned, "rb")
        self.ended = ""

    def runs(self) -> bool:
        """Whether the process says that it runs, as it does before it is asked anything."""
        try:
            return bool(receive(self._returned) == RUNS)
        except (OSError, ValueError):
            return False

    def load(self, programs: list[list[str]]) -> dict[str, Any]:
        """The names that can be called, or what loading raised."""
        found = self._asked(programs)
        names = found.get("value")
        if "error" not in found and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            raise self._end("the solution wrote into the pipe of its tester")
        return found

    def function(self, name: str) -> Callable[..., Any]:
        """A function that calls the solution's."""

        def call(*arguments: Any, **named: Any) -> Any:
            answer = self._asked((name, _sendable(arguments), _sendable(named)))
            if "error" not in answer:
                return answer["value"]
            kinds = answer.get("kinds")
            if not isinstance(kinds, list) or "Exception" not in kinds:  # SystemExit and the like, which would end the tests
                raise self._end(str(answer["error"]))
            raise _raised(str(answer["error"]), kinds)

        return call

    def _asked(self, value: Any) -> dict[str, Any]:
        if self.ended:
            raise SolutionEnded(self.ended)
        try:
            send(self._calls, value)
            answer = receive(self._returned)
        except Exception:  # noqa: BLE001 - whatever it wrote, even something too large for this process
            answer = None
        if not isinstance(answer, dict) or not answer.keys() & {"value", "error"}:
            raise self._end("the process of the solution ended, or wrote something else than an answer")
        return answer

    def _end(self, why: str) -> SolutionEnded:
        self.ended = why
        return SolutionEnded(why)


def _sendable(given: Any) -> Any:
    try:
        return plain(given)
    except (TypeError, ValueError) as error:
        raise Unsendable(f"an argument cannot be passed on: {str(error).removeprefix('it returned ')}") from None


_END_LOOPS = (StopIteration, StopAsyncIteration)
"""Raised by a function that tests map over a list, they would end the loop, and what it still had to compare."""


def _raised(said: str, kinds: list[Any]) -> RemoteError:
    """The error of the solution as one of the same built-in class, so that tests can expect it; but none that ends loops."""
    named = (getattr(builtins, str(name), None) for name in kinds)
    kind = next((each for each in named if isinstance(each, type) and issubclass(each, Exception)), Exception)
    if issubclass(kind, _END_LOOPS):
        return RemoteError(said)
    try:
        made: RemoteError = type(kind.__name__, (RemoteError, kind), {})(said)
    except TypeError:  # a class that takes more than a text, or cannot be joined with another
        return RemoteError(said)
    return made


if __name__ == "__main__":
    main()
