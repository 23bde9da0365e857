"""Asking several things at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def together(asked: Iterable[Awaitable[T]]) -> list[T]:
    """The results in order; all are waited for, so that nothing is spent behind the back of whoever counts.

    Raises:
        BaseException: the first that was raised, by order of `asked`.
    """
    results = await asyncio.gather(*asked, return_exceptions=True)
    found: list[T] = []
    for each in results:
        if isinstance(each, BaseException):
            raise each
        found.append(each)
    return found
