"""What httpx tells of one request on its way (its extension ``trace``), watched for two things that it leaves to others."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from eval_skills.core.errors import SkillUnavailable


class RequestTrace:
    """Closes the connection under a TLS handshake that is cut at the deadline, which the library leaves to the garbage collector.

    And it refuses a response that was there before its request was sent: a service that sent more than it had announced, or
    answered twice, would have every later call on that connection answered by the one before. Such bytes wait in the library's
    buffer, so the headers are complete without a turn of the event loop, which every reading from a socket takes.
    """

    def __init__(self) -> None:
        self._stream: Any = None
        self._turned = True

    async def noted(self, event: str, info: Mapping[str, Any]) -> None:
        """Called at the beginning and the end of every step.

        Raises:
            SkillUnavailable: the response is not the answer to this request; the connection is dropped.
        """
        if event == "connection.connect_tcp.complete":
            self._stream = info["return_value"]
        elif event == "connection.start_tls.failed" and self._stream is not None:
            await self._stream.aclose()
        elif event == "http11.receive_response_headers.started":
            self._turned = False
            asyncio.get_running_loop().call_soon(self._turn)
        elif event == "http11.receive_response_headers.complete" and not self._turned:
            raise SkillUnavailable("the service had sent more than its answer to the call before, so this connection was dropped")

    def _turn(self) -> None:
        self._turned = True
