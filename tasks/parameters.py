"""Handing large objects to Prefect tasks."""

from __future__ import annotations

from typing import TypeVar, cast

from prefect.utilities.annotations import quote

T = TypeVar("T")


def opaque(value: T) -> T:
    """`value` as a parameter that Prefect hands on as it is; to be used in the call of a Prefect task only.

    Prefect looks for futures inside every parameter, three times per call: in a plan of a thousand tasks that is most of the time
    its flow spends outside of its items.
    """
    return cast("T", quote(value))
