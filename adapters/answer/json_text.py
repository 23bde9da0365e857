"""JSON as it crosses the border to a skill: strict on the way in, plain ASCII on the way out."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable
from typing import Any

MAX_DEPTH = 200
"""How deep an answer may nest; what lies deeper breaks the programs that compare, store and show it."""


def parse_json(data: bytes) -> Any:
    """The value of a JSON text in UTF-8 (a byte-order mark is let through).

    Refused although Python's parser takes it: NaN and infinities (also by overflow, ``1e999``), more than `MAX_DEPTH`
    levels, and halves of surrogate pairs, which no file or table can hold.

    Raises:
        ValueError: the text is refused; the message is a phrase that says why.
    """
    try:
        value = _DECODER.decode(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}") from None
    except RecursionError:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels") from None
    except ValueError as error:
        if "digits" not in str(error):
            raise
        raise ValueError(f"a whole number of more than {sys.get_int_max_str_digits():,} digits") from None
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH:
        _refuse_deep(value)
    if b"\\ud" in data.lower():
        _refuse_surrogates(value)
    return value


def write_json(value: Any) -> bytes:
    """`value` as ASCII JSON on one line.

    Raises:
        ValueError: it holds something that is not JSON (NaN, a Python object, a circle).
    """
    try:
        return json.dumps(value, allow_nan=False).encode("ascii")
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"not JSON: {name} is not a JSON value")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"number {text[:40]} is too large")
    return value


# One decoder for all: json.loads() would build a new one for every call with options.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)


def _refuse_deep(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in _children(node) if isinstance(child, dict | list)]
        if not level:
            return
    raise ValueError(f"nested deeper than {MAX_DEPTH} levels")


def _children(node: Any) -> Iterable[Any]:
    return node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()


def _refuse_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair in a text") from None
