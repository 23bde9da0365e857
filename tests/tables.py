"""A table of cases in one test: what a thousand small rows would cost as tests of their own is more than what they try."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import pytest

Test = Callable[..., Any]
_PARAM = type(pytest.param())


def each_row(names: str | tuple[str, ...], rows: Iterable[Any], *, ids: Callable[[Any], str] = repr) -> Callable[[Test], Test]:
    """Like ``pytest.mark.parametrize``, but one test: all rows are tried, and those that fail are reported together.

    A row is a tuple, or a ``pytest.param`` with an id and no marks; with one name, it may be the bare value. Fixtures are made
    once, so rows must not disturb each other. An empty table is an error.
    """
    fields = tuple(each.strip() for each in names.split(",")) if isinstance(names, str) else names
    table = [_named(row, len(fields) == 1, ids) for row in rows]
    assert table, "a table without rows tries nothing"

    def decorate(test: Test) -> Test:
        @wraps(test)
        def together(*own: Any, **fixtures: Any) -> None:
            failed: list[Exception] = []
            for name, values in table:
                with _noted(name, failed):
                    test(*own, **fixtures, **dict(zip(fields, values, strict=True)))
            _report(failed, len(table))

        @wraps(test)
        async def awaited(*own: Any, **fixtures: Any) -> None:
            failed: list[Exception] = []
            for name, values in table:
                with _noted(name, failed):
                    await test(*own, **fixtures, **dict(zip(fields, values, strict=True)))
            _report(failed, len(table))

        whole: Test = awaited if inspect.iscoroutinefunction(test) else together
        signature = inspect.signature(test)
        rest = [each for each in signature.parameters.values() if each.name not in fields]
        assert len(rest) == len(signature.parameters) - len(fields), f"{test.__qualname__} does not take {', '.join(fields)}"
        vars(whole)["__signature__"] = signature.replace(parameters=rest)
        return whole

    return decorate


@contextmanager
def _noted(row: str, failed: list[Exception]) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # noqa: BLE001 # all rows are tried; `_report` raises what failed
        error.add_note(f"row {row}")
        failed.append(error)


def _report(failed: list[Exception], rows: int) -> None:
    if failed:
        raise ExceptionGroup(f"{len(failed)} of {rows} rows", failed)


def _named(row: Any, single: bool, ids: Callable[[Any], str]) -> tuple[str, tuple[Any, ...]]:
    if isinstance(row, _PARAM):
        assert not row.marks, "a row of a table has no marks: it is not a test"
        return str(row.id or row.values), tuple(row.values)
    values = (row,) if single else tuple(row)
    return ids(row), values
