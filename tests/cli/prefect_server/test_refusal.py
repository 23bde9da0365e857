"""A Prefect API of another version: what it refuses is told in a line, and why."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from typing import Any

import httpx
import pytest
from prefect.client.orchestration import get_client
from prefect.deployments.runner import DeploymentApplyError
from prefect.exceptions import PrefectHTTPStatusError
from prefect.settings import PREFECT_API_URL, temporary_settings

from eval_skills.cli import app, main
from eval_skills.cli.context import UNFINISHED
from eval_skills.cli.prefect_server.refusal import refusal_of
from tests.tables import each_row

FORBIDDEN = {"type": "extra_forbidden", "loc": ["body", "schedules", 0, "replaces"], "msg": "Extra inputs are not permitted"}


class Older(BaseHTTPRequestHandler):
    """Has the server's version, and refuses all that it is sent."""

    def do_GET(self) -> None:
        is_known = self.path == "/api/admin/version"  # it has no tokens against forged requests
        self._answer(200 if is_known else 404, self.server.version)  # type: ignore[attr-defined]

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self._answer(422, {"exception_message": "Invalid request received.", "exception_detail": [FORBIDDEN], "body": sent * 999})

    def _answer(self, status: int, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Nothing."""


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Older) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("PREFECT_API_URL", f"http://127.0.0.1:{server.server_port}/api")
        yield server
        server.shutdown()


def refuse(url: str) -> None:
    with temporary_settings({PREFECT_API_URL: url}), get_client(sync_client=True) as client:
        try:
            client.create_flow_from_name("nightly")
        except PrefectHTTPStatusError as error:
            raise DeploymentApplyError(f"Error while applying deployment: {error}") from error


@each_row(
    ("theirs", "next_step"),
    [
        pytest.param("3.4.0", f"has Prefect 3.4.0, and here is {version('prefect')}: install the same minor version", id="older"),
        pytest.param(version("prefect"), "-v shows the whole of its answer, and eval-skills doctor looks", id="the-same"),
    ],
)
def test_the_reason_and_the_next_step_are_one_short_line(
    api: Any, theirs: str, next_step: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    api.version = theirs
    monkeypatch.setattr(app, "call_app", lambda arguments: refuse(f"http://127.0.0.1:{api.server_port}/api"))
    assert main.call(["serve"]) == UNFINISHED
    said = capsys.readouterr().err
    assert said.startswith(
        'eval-skills: the Prefect API refused a request (HTTP 422, "body.schedules.0.replaces: Extra inputs are not permitted"); '
    )
    assert next_step in said
    assert len(said) < 400


@each_row(
    ("text", "reason"),
    [
        pytest.param("<html>", "(HTTP 409)", id="a-page"),
        pytest.param("[]", "(HTTP 409)", id="a-list"),
        pytest.param("{}", "(HTTP 409)", id="nothing"),
        pytest.param('{"detail": "exists already"}', '(HTTP 409, "exists already")', id="a-sentence"),
    ],
)
def test_whatever_it_answers_the_status_is_told(api: Any, text: str, reason: str) -> None:
    api.version = version("prefect")
    request = httpx.Request("POST", "http://127.0.0.1:1/api/flows/")
    answer = httpx.Response(409, text=text, request=request)
    refused = refusal_of(PrefectHTTPStatusError("409", request=request, response=answer))
    assert refused is not None
    assert str(refused).startswith(f"the Prefect API refused a request {reason}; ")


def test_other_errors_are_none() -> None:
    assert refusal_of(ValueError("of a step")) is None
