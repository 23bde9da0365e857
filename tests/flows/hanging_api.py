"""A Prefect API that hangs when it is told one thing, and answers everything else."""

from __future__ import annotations

import httpx
import pytest


def hang_when_told(marked: bytes, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long each request whose body has `marked` in it would have waited for its answer; each times out at once."""
    handle, waits = httpx.HTTPTransport.handle_request, list[float]()

    def answer(transport: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        if marked not in request.content:
            return handle(transport, request)
        waits.append(request.extensions["timeout"]["read"])
        raise httpx.ReadTimeout("", request=request)

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", answer)
    return waits
