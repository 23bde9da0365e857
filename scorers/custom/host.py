"""The program that runs one custom scorer: standard library only, one request on stdin, one answer on stdout.

Request: ``{"file", "function", "output", "expected", "task"}``, or ``{"expression", "output", "text", "expected", "task"}``.
Answer, on one line: ``{"result": …}`` or ``{"error": "Type: message"}``. What the scorer prints goes to stderr, so that it cannot
be taken for the answer.

Files are opened in the folder that the host runs in (the benchmark's), temporary ones too, and read where Python and the system's
libraries are installed; any other is refused. That prevents accidents, not attacks: it is not a sandbox.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import os
import re
import runpy
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
LIBRARIES = ("/usr", "/lib", "/lib64", "/etc/zoneinfo", "/etc/localtime", "/dev/urandom")
PATHS = {
    "open": 1, "sqlite3.connect": 1, "os.listdir": 1, "os.scandir": 1, "os.mkdir": 1, "os.remove": 1, "os.rmdir": 1,
    "os.truncate": 1, "os.chmod": 1, "os.rename": 2, "os.link": 2,
}  # fmt: skip
"""The audited events, and how many of their first arguments are paths."""
READING = {"os.listdir", "os.scandir"}


def main() -> None:
    """Answer the request."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    request = json.loads(sys.stdin.readline())
    sys.addaudithook(FolderGuard(Path.cwd()).check)
    try:
        answer = json.dumps({"result": _result(request)}, default=_plain)
    except BaseException as error:  # noqa: BLE001 - an exception of the scorer, even SystemExit, is its answer
        answer = json.dumps({"error": f"{type(error).__name__}: {error}"[:2000]})
    answers.write(answer + "\n")
    answers.close()


class FolderGuard:
    """Refuses to open, list, change or remove what lies outside a folder."""

    def __init__(self, folder: Path) -> None:
        own = [str(folder), tempfile.gettempdir(), os.devnull]
        installed = [*sys.path, sys.prefix, sys.base_prefix, sys.exec_prefix, *LIBRARIES]
        self._writable = tuple(map(os.path.realpath, own))
        self._readable = (*self._writable, *{found for path in installed if (found := os.path.realpath(path)) != os.sep})

    def check(self, event: str, given: tuple[Any, ...]) -> None:
        """Check what Python is about to do.

        Raises:
            PermissionError: it is not allowed to.
        """
        if event not in PATHS:
            return
        reads = event in READING or (event == "open" and not (isinstance(given[2], int) and given[2] & WRITING))
        for path in given[: PATHS[event]]:
            if isinstance(path, str | bytes | os.PathLike):
                self._refuse_outside(os.fsdecode(path), self._readable if reads else self._writable)

    def _refuse_outside(self, path: str, folders: Iterable[str]) -> None:
        resolved = os.path.realpath(path)
        if path != ":memory:" and not any(resolved == folder or resolved.startswith(folder + os.sep) for folder in folders):
            raise PermissionError(f"{path!r} lies outside the benchmark's folder, where a scorer finds its files")


def _result(request: dict[str, Any]) -> Any:
    return _value(request) if "expression" in request else _returned(request)


def _value(request: dict[str, Any]) -> float:
    names = {name: request[name] for name in ("output", "text", "expected", "task")} | {"json": json, "math": math, "re": re}
    value = eval(request["expression"], names)  # noqa: S307 - what this process is for, and what --allow-custom-code allows
    if not isinstance(value, bool | int | float):
        raise TypeError(
            f"expected true, false or a number from 0 to 1, got a value of type {type(value).__name__}; wrap it in bool()"
        )
    return value


def _returned(request: dict[str, Any]) -> Any:
    file = request["file"]
    sys.path.insert(0, str(Path(file).parent))
    function = runpy.run_path(file, run_name=Path(file).stem)[request["function"]]
    result = function(request["output"], request["expected"], request["task"])
    return asyncio.run(_awaited(result)) if inspect.isawaitable(result) else result


def _plain(value: Any) -> Any:
    """A truth value or a number of NumPy as Python's.

    Raises:
        TypeError: it is something else.
    """
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        return value.item()
    kind = type(value).__name__
    raise TypeError(f"its answer holds a {kind}; return a number from 0 to 1, true, false or {{score, passed, reason}}")


async def _awaited(result: Any) -> Any:
    return await result


if __name__ == "__main__":
    main()
