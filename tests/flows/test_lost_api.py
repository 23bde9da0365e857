"""When an error says that Prefect's API, or what it knew of a flow, is gone."""

from __future__ import annotations

import threading

import httpx
import pytest
from prefect.client.orchestration import get_client
from prefect.exceptions import ObjectNotFound
from prefect.settings import PREFECT_API_URL, get_current_settings, temporary_settings

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
