"""Settings that hold for a while are those that Prefect itself would make."""

from __future__ import annotations

import pytest
from prefect.settings import (
    PREFECT_API_URL,
    PREFECT_CLIENT_MAX_RETRIES,
    PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
    PREFECT_UI_URL,
    get_current_settings,
    temporary_settings,
)

from eval_skills.tasks.prefect_settings import served_by, with_settings


def test_inside_they_are_as_prefects_own_and_outside_as_before() -> None:
    with temporary_settings():  # what another test has set in the environment is read by now
        before = get_current_settings().model_dump()
        with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None, PREFECT_CLIENT_MAX_RETRIES: 0}):
            wanted = get_current_settings().model_dump()
        with with_settings(flows={"heartbeat_frequency": None}, client={"max_retries": 0}):
            assert get_current_settings().model_dump() == wanted
            assert (PREFECT_FLOWS_HEARTBEAT_FREQUENCY.value(), PREFECT_CLIENT_MAX_RETRIES.value()) == (None, 0)
        assert get_current_settings().model_dump() == before
    assert wanted != before


@pytest.mark.parametrize("known", ["http://127.0.0.1:1/api", "http://127.0.0.1:2/api"], ids=["it-is-already", "it-was-another"])
def test_the_api_is_the_named_one_and_its_ui_follows(known: str) -> None:
    with temporary_settings({PREFECT_API_URL: known}):
        with served_by("http://127.0.0.1:2/api"):
            assert (PREFECT_API_URL.value(), PREFECT_UI_URL.value()) == ("http://127.0.0.1:2/api", "http://127.0.0.1:2")
        assert PREFECT_API_URL.value() == known
