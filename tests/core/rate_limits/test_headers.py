"""What headers say of the next request."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from eval_skills.core.rate_limits.headers import exhausted_s, retry_after_s, wait_s
from tests.tables import each_row

NOW = datetime(2026, 11, 22, 12, 0, 0, tzinfo=UTC)


@each_row(
    ("value", "seconds"),
    [
        pytest.param(None, None, id="absent"),
        pytest.param("7", 7.0, id="seconds"),
        pytest.param(" 1.5 ", 1.5, id="fraction"),
        pytest.param("0", 0.0, id="at-once"),
        pytest.param("-3", None, id="negative"),
        pytest.param("nan", None, id="nan"),
        pytest.param("inf", None, id="infinite"),
        pytest.param("soon", None, id="unreadable"),
        pytest.param("Sun, 22 Nov 2026 12:00:30 GMT", 30.0, id="date"),
        pytest.param("Sun, 22 Nov 2026 12:00:30 -0000", 30.0, id="date-without-zone"),
        pytest.param("Sun, 22 Nov 2026 11:00:00 GMT", 0.0, id="date-in-the-past"),
    ],
)
def test_p20_retry_after(value: str | None, seconds: float | None) -> None:
    assert retry_after_s(value, NOW) == seconds


@each_row(
    ("headers", "seconds"),
    [
        pytest.param({}, None, id="nothing-said"),
        pytest.param({"x-ratelimit-remaining": "3", "x-ratelimit-reset": "9"}, None, id="something-left"),
        pytest.param({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9"}, 9.0, id="seconds"),
        pytest.param({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(NOW.timestamp() + 30)}, 30.0, id="github"),
        pytest.param({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(NOW.timestamp() * 1000 + 500)}, 0.5, id="in-ms"),
        pytest.param({"x-rate-limit-remaining": "0", "x-rate-limit-reset": "1"}, 1.0, id="in-three-words"),
        pytest.param({"x-ratelimit-remaining": "0", "x-ratelimit-reset-after": "1.5"}, 1.5, id="discord"),
        pytest.param({"x-ratelimit-remaining": "0"}, None, id="no-reset"),
        pytest.param({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "later"}, None, id="unreadable"),
        pytest.param({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}, 360.0, id="openai-minutes"),
        pytest.param(
            {
                "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "20ms",
                "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1.5s",
            },
            1.5,
            id="the-last-of-several",
        ),
        pytest.param(
            {
                "x-ratelimit-remaining-requests": "5", "x-ratelimit-reset-requests": "1h",
                "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1h2m3s",
            },
            3723.0,
            id="each-with-its-own-reset",
        ),
        pytest.param(
            {"anthropic-ratelimit-requests-remaining": "0", "anthropic-ratelimit-requests-reset": "2026-11-22T12:00:07Z"},
            7.0,
            id="anthropic",
        ),
        pytest.param({"llm_provider-x-ratelimit-remaining": "0", "llm_provider-x-ratelimit-reset": "4"}, 4.0, id="of-a-proxy"),
        pytest.param({"ratelimit": "limit=10, remaining=0, reset=5"}, 5.0, id="ietf-7"),
        pytest.param({"ratelimit": '"default";r=0;t=6'}, 6.0, id="ietf-9"),
        pytest.param({"ratelimit": '"default";r=1;t=6'}, None, id="ietf-9-left"),
        pytest.param({"remaining": "0", "reset": "4"}, None, id="of-something-else"),
    ],
)  # fmt: skip
def test_limits_that_are_used_up(headers: dict[str, str], seconds: float | None) -> None:
    assert exhausted_s(headers, NOW) == (None if seconds is None else pytest.approx(seconds))


@each_row(
    ("headers", "seconds"),
    [
        pytest.param({"retry-after": "2", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "9"}, 2.0, id="retry-after-first"),
        pytest.param({"retry-after-ms": "250"}, 0.25, id="in-ms"),
        pytest.param({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9"}, 9.0, id="else-the-limits"),
    ],
)
def test_how_long_a_refused_request_waits(headers: dict[str, str], seconds: float) -> None:
    assert wait_s(headers, NOW) == seconds
