"""A conversation with a skill: what was said so far, and what a skill is told about it."""

from __future__ import annotations

import uuid
from collections import deque
from copy import deepcopy
from itertools import takewhile
from typing import Any

from eval_skills.adapters.answer.envelope import write_json
from eval_skills.core.messages.roles import inner_message, role_in
from eval_skills.core.models import SkillResponse

MAX_HISTORY_BYTES = 5_000_000
"""How much of what was said is sent along with a turn, as JSON; what is older is left out, and counted."""


class Conversation:
    """One conversation: its id, which no other has, the number of the turn that is on (from 1), and the turns before it.

    `state` is the adapter's own: what it keeps for this conversation alone; `seen` are the messages that came so far, by their
    ids.
    """

    def __init__(self) -> None:
        self.id = uuid.uuid4().hex
        self.turn = 0
        self.state: Any = None
        self.seen: dict[str, Any] = {}
        self._history: deque[tuple[int, dict[str, Any]]] = deque()
        self._bytes = self._left_out = 0
        self._messages: list[dict[str, Any]] = []

    def begin_turn(self) -> None:
        """The next turn is on."""
        self.turn += 1

    def note(self, input_data: Any, output: Any) -> None:
        """Keep what was said in the turn that is over."""
        said = {"input": input_data, "output": output}
        size = len(write_json(said))
        self._history.append((size, said))
        self._bytes += size
        while self._bytes > MAX_HISTORY_BYTES:
            self._bytes -= self._history.popleft()[0]
            self._left_out += 1

    @property
    def data(self) -> dict[str, Any]:
        """What a skill is told: ``{"id", "turn", "history": [{"input", "output"}, …]}``, with ``leftOut``, the number of turns
        that are too long ago, where there are some."""
        history = [said for _, said in self._history]
        left_out = {"leftOut": self._left_out} if self._left_out else {}
        return {"id": self.id, "turn": self.turn, "history": history, **left_out}

    @property
    def copied(self) -> dict[str, Any]:
        """The same, for code of others in this process, which may change it."""
        return deepcopy(self.data)

    def own(self, response: SkillResponse) -> SkillResponse:
        """The answer with the messages of this turn alone: many a skill repeats all that was said since the beginning."""
        if response.messages is None:
            return response
        before, self._messages = self._messages, response.messages
        own = without_repeats(response.messages, before)
        return response if own is response.messages else response.model_copy(update={"messages": own})


def without_repeats(said: list[dict[str, Any]], before: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages of a turn that are new, where they begin with all those that the turn before came with; else all of them.

    The instructions at the beginning may be others than before, as those that say what time it is: they are new then.
    """
    told, told_before = _instructions(said), _instructions(before)
    past = before[len(told_before) :]
    known = len(told) + len(past)
    if not past or len(said) <= known or said[len(told) : known] != past:
        return said
    return [*(told if told != told_before else ()), *said[known:]]


def _instructions(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The system's or developer's messages at the beginning."""
    return list(takewhile(lambda message: role_in(inner_message(message)) in ("system", "developer"), messages))
