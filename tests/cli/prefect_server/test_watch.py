"""What is said of a Prefect API while a flow runs: once that it is silent, once that it is back, however often it fails."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic, sleep
from typing import Any

import pytest
from prefect.settings import PREFECT_CLIENT_MAX_RETRIES, get_current_settings, temporary_settings

from eval_skills.cli.prefect_server import loss
from eval_skills.cli.prefect_server.api_server import ApiServer
from eval_skills.cli.prefect_server.loss import ONCE_GONE_S, Watch

SILENT, BACK = "is silent (HTTP 500); the work goes on", "answers again"


NOT_READY = 0
"""Healthy, but without its database, of which Prefect speaks at another path."""


class Health(BaseHTTPRequestHandler):
    """Answers with the next status of the server's list."""

    def do_GET(self) -> None:
        api: Any = self.server
        if self.path == "/api/ready":
            self.send_response(503 if api.last == NOT_READY else 200)
        else:
            api.last = next(api.statuses)
            self.send_response(api.last or 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Nothing."""


@pytest.fixture
def api() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Health) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statuses", "told"),
    [
        pytest.param([200, 500, 200, 500, 200], [], id="a-single-failure-is-no-news"),
        pytest.param([500, 500, 500, 200], [SILENT, BACK], id="it-was-away"),
        pytest.param([500, 500, 200] * 3, [SILENT, BACK], id="again-and-again"),
        pytest.param([NOT_READY] * 3 + [200], [SILENT.replace("HTTP 500", "its database does not answer"), BACK], id="database"),
    ],
)
def test_each_line_is_told_once(
    api: ThreadingHTTPServer, statuses: list[int], told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss, "PERIOD_S", 0.2)  # on a busy machine, too, an answer comes sooner
    asked = [0]

    def answers() -> Iterator[int]:
        for status in itertools.chain(statuses, itertools.repeat(200)):
            asked[0] += 1
            yield status

    api.statuses = answers()  # type: ignore[attr-defined]
    lines: list[str] = []
    with Watch(ApiServer(f"http://127.0.0.1:{api.server_port}/api"), lines.append):
        end = monotonic() + 60
        while asked[0] < len(statuses) + 3 and monotonic() < end:
            sleep(0.01)
    assert [line.partition(f"{api.server_port} ")[2] for line in lines] == told


def test_once_it_is_gone_nothing_is_asked_twice_or_waited_for_long(
    api: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss, "PERIOD_S", 0.05)
    monkeypatch.setattr(loss, "PATIENCE_S", 0.1)
    api.statuses = itertools.repeat(500)  # type: ignore[attr-defined]
    with temporary_settings({PREFECT_CLIENT_MAX_RETRIES: 5}), Watch(ApiServer(f"http://127.0.0.1:{api.server_port}/api"), print):
        settings, end = get_current_settings(), monotonic() + 60
        while settings.client.max_retries and monotonic() < end:
            sleep(0.01)
    assert (settings.client.max_retries, settings.api.request_timeout) == (0, ONCE_GONE_S)
