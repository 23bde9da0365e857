"""When an error says that Prefect's API is gone."""

from __future__ import annotations

import httpx
import pytest

from eval_skills.core.errors import RunError, UsageError
from eval_skills.flows.lost_api import loss_of


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
