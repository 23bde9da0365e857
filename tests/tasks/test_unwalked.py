"""A large parameter reaches its Prefect task as it is, and nobody walks through it on the way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from prefect import flow, task

from eval_skills.tasks.runner import unwalked

pytestmark = pytest.mark.usefixtures("prefect_url")


class Sealed(dict[str, int]):
    """A mapping that notices when somebody looks through it."""

    looked = 0

    def items(self) -> Any:
        type(self).looked += 1
        return super().items()

    def __iter__(self) -> Iterator[str]:
        type(self).looked += 1
        return super().__iter__()


@task(persist_result=False)
def same(value: Sealed, sealed: Sealed) -> bool:
    return value is sealed


@pytest.mark.parametrize("wrapped", [True, False])
def test_prefect_looks_through_a_bare_mapping_and_not_through_an_opaque_one(wrapped: bool) -> None:
    sealed = Sealed(a=1)
    Sealed.looked = 0

    @flow(persist_result=False)
    def hand_over() -> bool:
        return same(unwalked(sealed) if wrapped else sealed, unwalked(sealed))

    hand_over()
    assert bool(Sealed.looked) is not wrapped
