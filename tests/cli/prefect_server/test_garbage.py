"""When a server looks for garbage: not while nobody asks it anything."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest
from uvicorn.server import ServerState

from eval_skills.cli.prefect_server import process


class Over(Exception):
    """The server's last moment."""


def test_it_is_looked_for_after_requests_and_while_one_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    served, looks = ServerState(), list[str]()
    waiting: Any = object()

    def moments() -> Iterator[str]:
        yield "idle"
        served.total_requests = 1
        yield "answered"
        yield "idle again"
        served.tasks.add(waiting)
        yield "waits"
        served.tasks.clear()
        yield "idle at last"

    seen, now = moments(), [""]

    def sleep(_: float) -> None:
        if (moment := next(seen, None)) is None:
            raise Over
        now[0] = moment

    monkeypatch.setattr(process, "sleep", sleep)
    monkeypatch.setattr(gc, "collect", lambda: looks.append(now[0]))
    monkeypatch.setattr(gc, "freeze", lambda: None)
    with pytest.raises(Over):
        process._collect_garbage(served)
    assert looks == ["", "answered", "waits"]
