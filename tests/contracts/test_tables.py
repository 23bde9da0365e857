"""A table in one test fails as its rows would: every failing row is named, and none hides the next."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from tests.tables import each_row


def test_all_rows_are_tried_and_those_that_fail_are_named() -> None:
    tried: list[int] = []

    @each_row(("given", "least"), [pytest.param(1, 5, id="too-small"), (7, 5), pytest.param(2, 5, id="as-well")])
    def check(given: int, least: int) -> None:
        tried.append(given)
        assert given >= least

    with pytest.raises(ExceptionGroup, match="2 of 3 rows") as failed:
        check()
    assert tried == [1, 7, 2]
    assert [error.__notes__ for error in failed.value.exceptions] == [["row too-small"], ["row as-well"]]


async def test_tables_of_coroutine_functions_are_awaited() -> None:
    @each_row("given", [1, 2])
    async def check(given: int) -> None:
        assert given == 1

    with pytest.raises(ExceptionGroup, match="1 of 2 rows"):
        await check()


def test_what_is_not_in_the_rows_is_a_fixture() -> None:
    @each_row("one", [1])
    @each_row("two", [2, 3])
    def check(one: int, tmp_path: Path, two: int) -> None: ...

    assert list(inspect.signature(check).parameters) == ["tmp_path"]


def test_a_table_that_cannot_be_one_test_is_refused() -> None:
    with pytest.raises(AssertionError, match="without rows"):
        each_row("given", [])
    with pytest.raises(AssertionError, match="has no marks"):
        each_row("given", [pytest.param(1, marks=pytest.mark.slow)])
    with pytest.raises(AssertionError, match="does not take other"):
        each_row("other", [1])(lambda given: None)
