"""The program that runs the tests of a task against a solution in another process. Standard library only.

Request, a line of JSON on standard input: ``{"entryPoint", "prompt", "setup", "test", "code"}``. Answer, a line of JSON:
``{"passed": true}``, ``{"failed": message}`` or ``{"broken": message}`` where the tests themselves cannot be run.

The solution is reached through two pipes, whose numbers are the arguments. Its functions are called there, and nothing of it runs
here: it can neither end this process nor change what a test compares. What it returns is plain data.
"""

from __future__ import annotations

import builtins
import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from solution import plain, receive, send  # type: ignore[import-not-found]


class SolutionEnded(Exception):
    """The process of the solution is gone, or says nothing that can be read."""


def main() -> None:
    """Answer the request."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    answers.write(json.dumps(_verdict(json.loads(sys.stdin.readline()), *map(int, sys.argv[1:3]))) + "\n")
    answers.close()


def _verdict(request: dict[str, str], calls: int, returned: int) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "tests"}
    try:
        if request["prompt"]:  # its helpers are those that the tests use
            exec(compile(request["prompt"] + "\n    pass\n", "prompt", "exec"), names)  # noqa: S102
        exec(compile(request["setup"], "setup", "exec"), names)  # noqa: S102
    except BaseException as error:  # noqa: BLE001 - whatever they raise, the task is at fault
        return {"broken": f"{type(error).__name__}: {error}"}
    solution = Solution(calls, returned)
    try:
        found = solution.load(request["code"])
    except SolutionEnded as error:
        return {"failed": str(error)}
    if "error" in found:
        return {"failed": f"the solution does not load: {found['error']}"}
    entry = request["entryPoint"]
    if entry and entry not in found["value"]:
        return {"failed": f"the solution defines no function {entry}"}
    own = [entry] if entry else [name for name in found["value"] if name not in names]
    names |= {name: solution.function(name) for name in own}
    return _tested(request["test"], entry, names)


def _tested(test: str, entry: str, names: dict[str, Any]) -> dict[str, Any]:
    try:
        exec(compile(test, "tests", "exec"), names)  # noqa: S102
        if entry and "check" not in names:
            return {"broken": "they define no check(candidate)"}
        if entry:
            names["check"](names[entry])
    except (SyntaxError, NameError, ImportError, Unsendable) as error:
        missing = isinstance(error, NameError) and not hasattr(builtins, str(error.name)) and error.name not in names
        return {"failed" if missing and not entry else "broken": _said(error, test)}
    except BaseException as error:  # noqa: BLE001 - a failed assertion, or what the solution raised
        return {"failed": _said(error, test)}
    return {"passed": True}


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
    """The process of the solution."""

    def __init__(self, calls: int, returned: int) -> None:
        self._calls, self._returned = os.fdopen(calls, "wb"), os.fdopen(returned, "rb")

    def load(self, code: str) -> dict[str, Any]:
        """The names that can be called, or what loading raised."""
        found = self._asked(code)
        names = found.get("value")
        if "error" not in found and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            raise SolutionEnded("the solution wrote into the pipe of its tester")
        return found

    def function(self, name: str) -> Callable[..., Any]:
        """A function that calls the solution's."""

        def call(*arguments: Any, **named: Any) -> Any:
            answer = self._asked((name, _sendable(arguments), _sendable(named)))
            if "error" in answer:
                raise _raised(answer)
            return answer["value"]

        return call

    def _asked(self, value: Any) -> dict[str, Any]:
        try:
            send(self._calls, value)
            answer = receive(self._returned)
        except (OSError, ValueError):
            answer = None
        if not isinstance(answer, dict) or not answer.keys() & {"value", "error"}:
            raise SolutionEnded("the process of the solution ended, or wrote something else than an answer")
        return answer


def _sendable(given: Any) -> Any:
    try:
        return plain(given)
    except (TypeError, ValueError) as error:
        raise Unsendable(f"an argument cannot be passed on: {str(error).removeprefix('it returned ')}") from None


def _raised(answer: dict[str, Any]) -> BaseException:
    """The error of the solution as one of the same built-in class, so that tests can expect it."""
    named = (getattr(builtins, str(name), None) for name in answer.get("kinds", ()))
    kind = next((each for each in named if isinstance(each, type) and issubclass(each, Exception)), Exception)
    said = str(answer["error"])
    try:
        made = type(kind.__name__, (RemoteError, kind), {})(said)
    except TypeError:  # a class that takes more than a text, or cannot be joined with another
        return RemoteError(said)
    return made if isinstance(made, BaseException) else RemoteError(said)


if __name__ == "__main__":
    main()
