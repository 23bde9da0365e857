from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.core.search import search
from tests.core.skills import skill
from tests.tables import each_row

SKILLS = [
    skill("b", name="Straße finder", tags=["maps", "geo"]),
    skill("a", description="finds places", adapterType="mcp"),
    skill("c", name="Other", tags=["find-it", "find-more"]),
]
HISTORY = {"a@1.0.0": 0.4, "b@1.0.0": 0.9}


def ids(**options: Any) -> list[str]:
    return [found.id for found in search(SKILLS, **options)]


@each_row(
    ("options", "expected"),
    [
        pytest.param({"query": "FIND"}, ["b", "a", "c"], id="name-3-description-2-tag-1-once"),
        pytest.param({"query": " STRASSE "}, ["b"], id="any-case-and-outer-blanks"),
        pytest.param({"query": "nothing"}, [], id="no-points-no-hit"),
        pytest.param({"query": "  "}, ["a", "b", "c"], id="a-blank-query-is-none"),
        pytest.param({"tags": ["maps", "geo"]}, ["b"], id="all-tags"),
        pytest.param({"tags": []}, ["a", "b", "c"], id="no-tags-filter-nothing"),
        pytest.param({"adapter": "mcp"}, ["a"], id="adapter"),
        pytest.param({"limit": 2}, ["a", "b"], id="limit"),
        pytest.param({"query": "find", "limit": 1, "history": HISTORY}, ["b"], id="limit-after-ranking"),
    ],
)
def test_search(options: dict[str, Any], expected: list[str]) -> None:
    assert ids(**options) == expected


def test_p46_without_a_query_the_last_completion_rate_decides_unknown_last() -> None:
    assert ids(history=HISTORY) == ["b", "a", "c"]


def test_a_rate_of_zero_is_better_than_an_unknown_one() -> None:
    assert ids(history={"c@1.0.0": 0.0}) == ["c", "a", "b"]


def test_with_a_query_its_points_decide() -> None:
    assert ids(query="find", history={"c@1.0.0": 1.0}) == ["b", "a", "c"]


@each_row(
    ("history", "expected"),
    [
        pytest.param(HISTORY, ["b"], id="known"),
        pytest.param({"a@1.0.0": 0.5}, ["a"], id="inclusive"),
        pytest.param({"b@2.0.0": 1.0}, [], id="of-another-version"),
        pytest.param({"b@1.0.0": None}, [], id="unknown"),
        pytest.param(None, [], id="no-history"),
    ],
)
def test_p46_least_completion_reads_the_history(history: dict[str, float | None] | None, expected: list[str]) -> None:
    assert ids(min_completion=0.5, history=history) == expected


def test_versions_of_one_skill_come_in_their_order() -> None:
    versions = [skill("a", version=version) for version in ("1.10.0", "1.9.0")]
    assert [found.version for found in search(versions)] == ["1.9.0", "1.10.0"]


@each_row(
    ("options", "message"),
    [
        ({"adapter": "htpp"}, "unknown adapter 'htpp' \\(did you mean 'http'\\?\\)"),
        ({"min_completion": 1.5}, "lie in \\[0, 1\\]; got 1.5"),
        ({"min_completion": float("nan")}, "got nan"),
        ({"limit": 0}, "limit must be 1 or more"),
    ],
)
def test_p40_nonsense_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ids(**options)
