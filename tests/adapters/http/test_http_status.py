from __future__ import annotations

from datetime import UTC, datetime

import pytest

from eval_skills.adapters.http.errors import status_error
from eval_skills.core.errors import InfraError, ItemError, SkillCrashed, SkillError, SkillUnavailable
from eval_skills.core.rate_limits.headers import retry_after_s
from tests.tables import each_row

NOW = datetime(2026, 11, 22, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize("status", [200, 201, 204, 299])
def test_success_is_no_error(status: int) -> None:
    assert status_error(status, {}, "", "http://x") is None


@pytest.mark.parametrize(
    ("statuses", "kind"),
    [
        pytest.param([408, 425, 429, 502, 503, 504], SkillUnavailable, id="p20-transient"),
        pytest.param([500, 501, 505, 599], SkillCrashed, id="failed"),
        pytest.param([401, 403, 404, 405], InfraError, id="not-reached"),
        pytest.param([400, 402, 409, 418, 422, 451], SkillError, id="refused-by-the-skill"),
        pytest.param([301, 302, 304, 307, 308], InfraError, id="redirected"),
    ],
)
def test_p20_the_kind_follows_from_the_status(statuses: list[int], kind: type[ItemError]) -> None:
    for status in statuses:
        error = status_error(status, {}, "", "http://x")
        assert type(error) is kind
        assert error.transient is (kind in (SkillUnavailable, SkillCrashed))


def test_p21_the_status_comes_first_then_a_bounded_excerpt() -> None:
    error = status_error(404, {}, "<html>\n <h1>Not  found</h1>" + "x" * 10_000, "http://x/y")
    assert str(error).startswith("HTTP 404 from http://x/y: <html> <h1>Not found</h1>xxx")
    assert len(str(error)) < 400


def test_a_redirect_says_where_it_pointed() -> None:
    assert "redirected to http://elsewhere/" in str(status_error(302, {"location": "http://elsewhere/"}, "", "http://x"))


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
