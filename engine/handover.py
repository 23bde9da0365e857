"""What a caller hands to what it starts in its process beside the request, which is JSON: objects, and an observer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Self, TypeVar

if TYPE_CHECKING:
    from eval_skills.core.models import Benchmark
    from eval_skills.core.skills import Discovery


@dataclass(frozen=True, slots=True)
class HeldInMemory:
    """What a caller in this process holds as objects: the skills, and the benchmark unless the request names one by its path."""

    skills: Discovery
    benchmark: Benchmark | None


_held: ContextVar[HeldInMemory | None] = ContextVar("eval_skills_held_in_memory", default=None)


@contextmanager
def holding(held: HeldInMemory) -> Iterator[None]:
    """Let `make_plan` take `held` for what its request names: a flow's request is JSON, and functions are not."""
    token = _held.set(held)
    try:
        yield
    finally:
        _held.reset(token)


def held_in_memory() -> HeldInMemory | None:
    """What the caller holds; None where the request names everything."""
    return _held.get()


T = TypeVar("T")


class Observed(Generic[T]):
    """The observer of the current context: `default`, unless `by` has set another one."""

    def __init__(self, name: str, default: T) -> None:
        self._made_of = (name, default)
        self._observer: ContextVar[T] = ContextVar(f"eval_skills_{name}", default=default)

    def __reduce__(self) -> tuple[type[Self], tuple[str, T]]:
        """A served flow is pickled with what its body names; in the other process nobody observes yet."""
        return type(self), self._made_of

    @property
    def observer(self) -> T:
        """The observer to report to."""
        return self._observer.get()

    @contextmanager
    def by(self, observer: T) -> Iterator[None]:
        """Report everything that starts inside to `observer`."""
        token = self._observer.set(observer)
        try:
            yield
        finally:
            self._observer.reset(token)
