from __future__ import annotations

import pytest

from eval_skills.adapters.http.errors import status_error
from eval_skills.core.errors import InfraError, ItemError, SkillCrashed, SkillError, SkillThrottled, SkillUnavailable
from tests.tables import each_row


@each_row("status", [200, 201, 204, 299])
def test_success_is_no_error(status: int) -> None:
    assert status_error(status, {}, "", "http://x") is None


@each_row(
    ("statuses", "kind"),
    [
        pytest.param([408, 425, 502, 503, 504], SkillUnavailable, id="p20-transient"),
        pytest.param([520, 521, 522, 523, 524, 525, 526, 527, 529, 530], SkillUnavailable, id="p20-of-what-stands-before-it"),
        pytest.param([429], SkillThrottled, id="p20-throttled"),
        pytest.param([500, 501, 505, 519, 528, 531, 599], SkillCrashed, id="failed"),
        pytest.param([401, 403, 404, 405], InfraError, id="not-reached"),
        pytest.param([400, 402, 409, 418, 422, 451], SkillError, id="refused-by-the-skill"),
        pytest.param([301, 302, 304, 307, 308], InfraError, id="redirected"),
    ],
)
def test_p20_the_kind_follows_from_the_status(statuses: list[int], kind: type[ItemError]) -> None:
    for status in statuses:
        error = status_error(status, {}, "", "http://x")
        assert type(error) is kind
        assert error.transient is (kind in (SkillUnavailable, SkillThrottled, SkillCrashed))


@each_row(
    ("status", "headers", "body", "kind"),
    [
        pytest.param(503, {"retry-after": "1"}, "", SkillThrottled, id="503-that-asks-for-a-wait"),
        pytest.param(429, {"retry-after": "1"}, "insufficient_quota", SkillUnavailable, id="nothing-left-to-pay-with"),
    ],
)
def test_what_asks_for_fewer_requests(status: int, headers: dict[str, str], body: str, kind: type[ItemError]) -> None:
    assert type(status_error(status, headers, body, "http://x")) is kind


def test_p21_the_status_comes_first_then_a_bounded_excerpt() -> None:
    error = status_error(404, {}, "<html>\n <h1>Not  found</h1>" + "x" * 10_000, "http://x/y")
    assert str(error).startswith("HTTP 404 from http://x/y: <html> <h1>Not found</h1>xxx")
    assert len(str(error)) < 400


def test_a_redirect_says_where_it_pointed() -> None:
    assert "redirected to http://elsewhere/" in str(status_error(302, {"location": "http://elsewhere/"}, "", "http://x"))
    assert str(status_error(305, {}, "", "http://x")).startswith("HTTP 305 from http://x, without a Location to go on to")
