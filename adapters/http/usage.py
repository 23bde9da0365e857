"""What an answer says that it cost: tokens and money, in the body or in the headers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from eval_skills.adapters.http.config import HttpConfig, found_at
from eval_skills.core.models import Usage
from eval_skills.core.models.response import CACHED_KEYS, COMPLETION_KEYS, MAX_COST_USD, MAX_TOKENS, PROMPT_KEYS

_COST, _USAGE = "cost_usd", "usage"
_MAX_COUNT = MAX_TOKENS // 10
"""So that a count and its cached tokens together are still one."""

_MAX_DIGITS = 40


class UsageReader:
    """Collects what one response says. What it does not say stays unknown. Of two places the body counts, and of two costs in it
    the later one. Of several numbers of tokens the greatest counts: those in a stream are what there was so far, and the last
    event may leave cached tokens out, or say 0 of what the first one said.

    If a value is not a count or not an amount, all of the usage or the cost is unknown (a part of it would look like
    the whole), and `problems` says so: a right answer is not lost for it.
    """

    def __init__(self, config: HttpConfig) -> None:
        self._usage_paths, self._cost_path = config.usage_paths, config.cost_path
        self._usage_headers, self._cost_header = config.usage_headers, config.cost_header
        self._in_headers: dict[str, Any] = {}
        self._in_body: dict[str, Any] = {}
        self._unread: dict[str, list[str]] = {}

    def read_headers(self, headers: Mapping[str, str]) -> None:
        """Take what the headers say."""
        if self._usage_headers is not None:
            for part, name in self._usage_headers:
                if name is not None and (text := headers.get(name)) is not None:
                    with self._noted(_USAGE):
                        self._in_headers[part] = _count(text, name)
        if self._cost_header is not None and (text := headers.get(self._cost_header)) is not None:
            with self._noted(_COST):
                self._in_headers[_COST] = _amount(_number(text), f"the header {self._cost_header} holds {text[:40]!r}")

    def read_body(self, body: Any) -> None:
        """Take what a body, or one event of a stream, says."""
        for path in self._usage_paths:
            if (found := found_at(path, body)) is not None:
                with self._noted(_USAGE):
                    for part, count in _tokens(found, path).items():
                        self._in_body[part] = max(count, self._in_body.get(part, 0))
        if self._cost_path is not None and (found := found_at(self._cost_path, body)) is not None:
            with self._noted(_COST):
                self._in_body[_COST] = _amount(found, f"costPath {self._cost_path!r} leads to {str(found)[:40]!r}")

    def known(self) -> dict[str, Any]:
        """The parts of a response that have become known."""
        said = self._in_headers | self._in_body
        cost = {_COST: said.pop(_COST)} if _COST in said else {}
        known = {**cost, _USAGE: Usage(**said)} if said else cost
        return {part: value for part, value in known.items() if part not in self._unread}

    @property
    def problems(self) -> list[str]:
        """What could not be read, each as one line."""
        return [f"{part} is unknown: {problem}" for part, problems in self._unread.items() for problem in dict.fromkeys(problems)]

    @contextmanager
    def _noted(self, part: str) -> Iterator[None]:
        try:
            yield
        except ValueError as problem:
            self._unread.setdefault(part, []).append(str(problem))


def _tokens(found: Any, path: str) -> dict[str, int]:
    """The counts in a usage object of OpenAI's, Anthropic's or our own shape."""
    counts = found if isinstance(found, dict) else {}
    parts = {"prompt_tokens": _first(counts, PROMPT_KEYS), "completion_tokens": _first(counts, COMPLETION_KEYS)}
    known = {part: count for part, count in parts.items() if count is not None}
    if not known:
        valid = "write the path of an object with prompt_tokens, input_tokens or similar keys"
        raise ValueError(f"usagePath {path!r} leads to no number of tokens; {valid}")
    cached = {name: counts[name] for name in CACHED_KEYS if counts.get(name) is not None}
    for name, count in (known | cached).items():
        if not _is_count(count):
            raise ValueError(f"usagePath {path!r} leads to {str(count)[:40]!r} as {name}, which is not a number of tokens")
    if "prompt_tokens" in known and known["prompt_tokens"] is counts.get("input_tokens"):
        known["prompt_tokens"] += sum(cached.values())
    return known


def _is_count(found: Any) -> bool:
    return isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= _MAX_COUNT


def _first(counts: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((counts[name] for name in names if counts.get(name) is not None), None)


def _count(text: str, header: str) -> int:
    if not (text.strip().isdecimal() and len(text) < _MAX_DIGITS and _is_count(int(text))):
        raise ValueError(f"the header {header} holds {text[:40]!r}, which is not a number of tokens")
    return int(text)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _amount(found: Any, seen: str) -> float:
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= MAX_COST_USD:
        raise ValueError(f"{seen}, which is not an amount in USD")
    return float(found)
