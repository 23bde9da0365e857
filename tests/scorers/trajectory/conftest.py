"""Messages for the tests of trajectories."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pytest

Message = dict[str, Any]


class Chat:
    """Makes messages in OpenAI's notation."""

    user: ClassVar[Message] = {"role": "user", "content": "a question"}
    tool: ClassVar[Message] = {"role": "tool", "content": "a result", "tool_call_id": "c"}
    answer: ClassVar[Message] = {"role": "assistant", "content": "an answer"}

    @staticmethod
    def call(name: str, /, **arguments: Any) -> Message:
        """One call."""
        return {"id": "c", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}

    @staticmethod
    def asks(*calls: Message) -> Message:
        """An assistant's message with these calls."""
        return {"role": "assistant", "content": "", "tool_calls": list(calls)}


@pytest.fixture
def chat() -> type[Chat]:
    """Makes messages."""
    return Chat
