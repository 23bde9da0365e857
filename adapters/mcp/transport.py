"""What carries messages to an MCP server and back, and what is known of the other end when they stop."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from eval_skills.adapters.process.streams import OutputTail
from eval_skills.core.errors import ItemError, SkillUnavailable

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

FAILURE_KEY = "eval-skills/failure"
"""Where an error reply that we made up ourselves says which of our errors it stands for."""

ENVELOPE_FACTOR, ENVELOPE_BYTES = 4, 65_536


def message_limit(max_output_bytes: int) -> int:
    """How long one message may be: an answer travels twice, once as structured content and once as escaped text."""
    return ENVELOPE_FACTOR * max_output_bytes + ENVELOPE_BYTES


class SessionExpired(SkillUnavailable):
    """The server does not know our session any more: the call was not carried out."""


class Transport(ABC):
    """One connection's carrier, used once.

    `said` is what the server said beside its messages. `broken` is the error that made the connection useless, where the carrier
    knows one. `taken` is the last exception that `take_logs` gave to a call's log, and when, as a `time.perf_counter()`.
    """

    def __init__(self) -> None:
        self.said = OutputTail()
        self.broken: ItemError | None = None
        self.taken = ("", 0.0)
        self._failures: dict[int, ItemError] = {}
        self._numbers = itertools.count(1)

    @abstractmethod
    def connect(self) -> AbstractAsyncContextManager[TransportStreams]:
        """The streams of messages from and to the server."""

    @property
    @abstractmethod
    def lost(self) -> bool:
        """Whether no message can come any more, as far as is known."""

    @abstractmethod
    async def describe_end(self, when: str) -> str:
        """How the other end went, as a phrase with `when` in it; waits briefly for what the system is about to report."""

    @property
    def was_not_found(self) -> bool:
        """Whether the server is a program that is missing or may not be run."""
        return False

    @property
    def died(self) -> bool:
        """Whether the server is a program that ended without being asked to."""
        return False

    @property
    def left_call(self) -> bool:
        """Whether the server is a program that had answered calls and ended without having read the one that waits."""
        return False

    def stderr(self) -> str:
        """What is kept of its standard error, where it has one."""
        return ""

    def take_logs(self) -> str:
        """What the server logged since this was last asked."""
        return self.said.take()

    def seen(self) -> str:
        """What came instead of a message, as a phrase, or nothing."""
        return ""

    def keep(self, failure: ItemError) -> dict[str, Any]:
        """The `data` of an error reply that stands for `failure`."""
        number = next(self._numbers)
        self._failures[number] = failure
        return {FAILURE_KEY: number}

    def failure(self, data: Any) -> ItemError | None:
        """The failure that the `data` of an error reply stands for, if it is one of ours; asked once."""
        number = data.get(FAILURE_KEY) if isinstance(data, Mapping) else None
        return self._failures.pop(number, None) if isinstance(number, int) else None
