"""When an error says that Prefect's API, or what it knew of a flow, is gone."""

from __future__ import annotations

import threading
from uuid import UUID

import httpx
import pytest
from prefect.client.orchestration import get_client
from prefect.exceptions import ObjectNotFound
from prefect.settings import PREFECT_API_URL, get_current_settings, temporary_settings
from prefect.states import Completed

from eval_skills.core.errors import RunError, UsageError
from eval_skills.flows.lost_api import loss_of


def status(code: int, path: str = "flow_runs/x/set_state") -> httpx.HTTPStatusError:
    request = httpx.Request("POST", f"http://127.0.0.1:4200/api/{path}")
    return httpx.HTTPStatusError(str(code), request=request, response=httpx.Response(code, request=request))


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        pytest.param(httpx.ReadTimeout(""), "it does not answer in time", id="silent"),
        pytest.param(httpx.ConnectError("Connection refused"), "connection refused", id="ended"),
        pytest.param(httpx.DecodingError("incorrect header check"), "incorrect header check", id="damaged"),
        pytest.param(status(503), "HTTP 503", id="failing"),
        pytest.param(ObjectNotFound(status(404)), "it does not know the flow run any more", id="came-back-empty"),
        pytest.param(status(409, "task_runs/"), "it does not know the flow run any more", id="part-of-what-it-does-not-know"),
        pytest.param(status(409), None, id="another-conflict"),
        pytest.param(status(422), None, id="refused-what-it-was-asked"),
        pytest.param(ValueError("x"), None, id="something-else"),
    ],
)
def test_why_the_api_is_gone(error: Exception, reason: str | None) -> None:
    assert loss_of(error) == reason


@pytest.mark.parametrize(
    ("raised", "loss"),
    [
        pytest.param(RunError("a step failed"), "connection refused", id="of-a-step"),
        pytest.param(UsageError("the judge is at another address"), None, id="of-a-judge"),
    ],
)
def test_what_a_user_is_told_to_correct_is_no_loss_although_it_came_of_a_connection(raised: Exception, loss: str | None) -> None:
    raised.__context__ = httpx.ConnectError("Connection refused")  # stays where it is raised from None
    assert loss_of(raised) == loss


def test_a_request_whose_retries_are_ended_while_it_waits_for_the_next_one_tells_of_a_loss() -> None:
    """Prefect's client has neither an answer nor an error then, and says so by an assertion of its own."""

    def end_retries_soon(request: httpx.Request) -> httpx.Response:
        threading.Timer(0.2, setattr, (get_current_settings().client, "max_retries", 0)).start()
        raise httpx.ReadError("reset")

    with (
        temporary_settings({PREFECT_API_URL: "http://127.0.0.1:1/api"}),
        get_client(httpx_settings={"transport": httpx.MockTransport(end_retries_soon)}, sync_client=True) as client,
        pytest.raises(AssertionError) as raised,
    ):
        client.read_flows()
    assert loss_of(raised.value) == "it does not answer any more"
    assert loss_of(AssertionError("of somebody else")) is None


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param(httpx.Response(200, text="<html>Please log in</html>"), "its answer cannot be read", id="a-page-instead"),
        pytest.param(httpx.Response(200, text='{"id": "7e0b'), "its answer cannot be read", id="cut-short"),
        pytest.param(httpx.Response(200, text=""), "its answer cannot be read", id="empty"),
        pytest.param(httpx.Response(200, json={}), "its answer cannot be read", id="of-something-else"),
        pytest.param(httpx.Response(302, headers={"Location": "/"}), "Exceeded maximum allowed redirects.", id="redirected"),
        pytest.param(httpx.Response(401), "HTTP 401", id="a-key-that-expired"),
        pytest.param(httpx.Response(403), "HTTP 403", id="forbidden"),
        pytest.param(httpx.Response(413), "HTTP 413", id="too-large-for-something-between"),
        pytest.param(httpx.Response(429, headers={"Retry-After": "0"}), "HTTP 429", id="too-many-requests"),
        pytest.param(httpx.Response(422), None, id="refused-what-it-was-asked"),
    ],
)
def test_an_answer_that_is_none_of_the_api_tells_of_a_loss(answer: httpx.Response, reason: str | None) -> None:
    with (
        temporary_settings({PREFECT_API_URL: "http://127.0.0.1:1/api"}),
        get_client(httpx_settings={"transport": httpx.MockTransport(lambda request: answer)}, sync_client=True) as client,
        pytest.raises(Exception) as raised,  # noqa: PT011 - of several packages
    ):
        client.set_flow_run_state(UUID(int=0), Completed())
    assert loss_of(raised.value) == reason
