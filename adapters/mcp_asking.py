"""What an MCP server asks of us, which is nothing we offer: sampling, roots, elicitation."""

from __future__ import annotations

from collections import deque

import mcp_types

from eval_skills.adapters.mcp_watch import Watcher

OFFERED = frozenset({"ping"})


class Asking(Watcher):
    """Notes the requests that come from the server: it gets a refusal, and what the tool then says may not tell why."""

    def __init__(self) -> None:
        self.count = 0
        self._last: deque[str] = deque(maxlen=10)

    def since(self, mark: int) -> list[str]:
        """What was asked for after `count` was `mark`, each once; of many, the last."""
        new = min(self.count - mark, len(self._last))
        return list(dict.fromkeys(list(self._last)[len(self._last) - new :]))

    def came(self, message: mcp_types.JSONRPCMessage) -> None:
        """Remember what a message asks of us."""
        if isinstance(message, mcp_types.JSONRPCRequest) and message.method not in OFFERED:
            self.count += 1
            self._last.append(message.method)
