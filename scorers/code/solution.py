"""The program that holds a solution: it runs the code, and calls what it defines when it is asked to. Standard library only.

It reads and writes values as JSON, each after its length: whatever the solution sends, reading it gives plain data or an error.
It says first that it runs. Then come the programs that the answer may mean, each with what is executed before it; the first that
compiles is loaded, and the answer is the names of all that can be called, or what loading raised. Then come calls: a name,
arguments and keyword arguments; the answer is what was returned, as plain data, or the error that was raised.
"""

from __future__ import annotations

import collections
import contextlib
import io
import json
import os
import resource
import types
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

RUNS = "runs"
"""What it says before it is asked anything."""

MAX_BYTES = 16_000_000
MAX_PARTS = 1_000_000
MAX_PROCESSES = 64
"""At a time, threads counted; the kernel exempts root from it."""

_SCALARS: tuple[type[Any], ...] = (bool, int, float, complex, str, bytes)
_GROUPS: tuple[type[Any], ...] = (tuple, list, set, frozenset)
_LONG_INT = 2**53
"""From here on in hexadecimal digits: Python bounds the length of decimal ones."""

_READERS: dict[str, Callable[[Any], Any]] = {
    "int": lambda text: int(text, 16), "bytes": bytes.fromhex, "complex": lambda parts: complex(*parts),
}  # fmt: skip
_GROUP_READERS: dict[str, Callable[[Any], Any]] = {"tuple": tuple, "set": set, "frozenset": frozenset}


def main() -> None:
    """Answer until there is nothing more to read."""
    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    resource.setrlimit(resource.RLIMIT_NPROC, (MAX_PROCESSES, MAX_PROCESSES))
    send(answers, RUNS)  # before anything of the solution does: what fails from here on is its own matter
    programs = receive(asked)
    names: dict[str, Any] = {"__name__": "solution"}
    send(answers, _tried(lambda: _loaded(programs, names)))
    while (call := receive(asked)) is not None:
        name, arguments, named = call
        send(answers, _tried(lambda: plain(names[name](*arguments, **named))))  # noqa: B023 - called at once


def send(out: BinaryIO, value: Any) -> None:
    """Write a value after its length."""
    data = json.dumps(_written(value), separators=(",", ":")).encode()
    out.write(len(data).to_bytes(8, "big") + data)
    out.flush()


def receive(source: BinaryIO) -> Any:
    """The next value; None at the end.

    Raises:
        ValueError: it is cut off, too long, or not one.
    """
    head = source.read(8)
    if not head:
        return None
    length = int.from_bytes(head, "big")
    if len(head) < 8 or length > MAX_BYTES:
        raise ValueError("not a value")
    data = source.read(length)
    if len(data) < length:
        raise ValueError("cut off")
    try:
        return _read(json.loads(data))
    except (TypeError, AttributeError, LookupError, RecursionError) as error:
        raise ValueError(f"not a value: {error}") from None


def _written(value: Any) -> Any:
    """Plain data as JSON: what that has no notation for is an object of one key, which names its type."""
    if value is None or type(value) in (bool, str, float):
        return value
    if type(value) is int:
        return value if abs(value) < _LONG_INT else {"int": hex(value)}
    if type(value) is complex:
        return {"complex": [value.real, value.imag]}
    if type(value) is bytes:
        return {"bytes": value.hex()}
    if type(value) is dict:
        return {"dict": [[_written(key), _written(each)] for key, each in value.items()]}
    parts = [_written(each) for each in value]
    return parts if type(value) is list else {type(value).__name__: parts}


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(each) for each in value]
    if not isinstance(value, dict):
        return value
    [(kind, held)] = value.items()
    if kind == "dict":
        return {_read(key): _read(each) for key, each in held}
    return _READERS[kind](held) if kind in _READERS else _GROUP_READERS[kind](map(_read, held))


def plain(value: Any, parts: Iterator[int] | None = None) -> Any:
    """The value as plain data: subclasses as what they are of, iterators as lists.

    Raises:
        TypeError: it holds something else, such as a function or an object of a class of its own.
        ValueError: it has more than `MAX_PARTS` parts.
    """
    parts = iter(range(MAX_PARTS)) if parts is None else parts
    if next(parts, None) is None:
        raise ValueError(f"it has more than {MAX_PARTS:,} parts")
    if value is None or type(value) in _SCALARS:
        return value
    if (scalar := next((kind for kind in _SCALARS if isinstance(value, kind)), None)) is not None:
        return scalar(value)
    if isinstance(value, dict):
        return {plain(key, parts): plain(each, parts) for key, each in value.items()}
    if (group := next((kind for kind in _GROUPS if isinstance(value, kind)), None)) is not None:
        return group(plain(each, parts) for each in value)
    if isinstance(value, range | map | filter | zip | collections.deque | Iterator) or type(value).__name__.startswith("dict_"):
        return [plain(each, parts) for each in value]
    raise TypeError(f"it returned a value of the type {type(value).__name__}, and only plain data can be compared")


def _loaded(programs: list[tuple[str, str]], names: dict[str, Any]) -> list[str]:
    before, code = _first_that_compiles(programs)
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(before, "before.py", "exec"), names)  # noqa: S102 - what this process is for
        exec(code, names)  # noqa: S102
    return [name for name, value in names.items() if callable(value)]


def _first_that_compiles(programs: list[tuple[str, str]]) -> tuple[str, types.CodeType]:
    """What is executed before it, and its code; where none compiles, the error of the first is raised."""
    errors: list[Exception] = []
    for before, program in programs:
        try:
            return before, compile(program, "solution.py", "exec")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            errors.append(error)
    raise errors[0]


def _tried(work: Callable[[], Any]) -> dict[str, Any]:
    try:
        return {"value": work()}
    except BaseException as error:  # noqa: BLE001 - whatever the solution raises, even SystemExit, is its answer
        return {
            "error": f"{type(error).__name__}: {error}"[:2000].rstrip(": "),
            "kinds": [each.__name__ for each in type(error).__mro__],
        }


if __name__ == "__main__":
    main()
