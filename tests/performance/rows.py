"""The rows of the benchmark: one module each, measured in a process of its own."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

from tests.performance.bar import Bar


class Measure(Protocol):
    """What a row's module offers as `measure`: its bars, from smaller sizes and fewer rounds if `quick`."""

    def __call__(self, *, quick: bool) -> list[Bar]: ...


@dataclass(frozen=True, slots=True)
class Row:
    """A row by the name of its module, and how long its process may take, in s."""

    name: str
    limit_s: float

    def measure(self, *, quick: bool) -> list[Bar]:
        """Measure here and now."""
        module = import_module(f"tests.performance.{self.name}")
        return cast("Measure", module.measure)(quick=quick)


ROWS = {
    row.name: row
    for row in (
        Row("mapping", 240),
        Row("one_shot", 240),
        Row("persistent", 240),
        Row("forked", 600),
        Row("recorded", 600),
        Row("sweep", 300),
        Row("cluster", 900),
        Row("ray_cluster", 900),
        Row("startup", 180),
        Row("aggregation", 300),
        Row("trajectory", 600),
        Row("year", 600),
        Row("viewer", 600),
        Row("remote_store", 600),
        Row("rooms", 120),
    )
}
"""In the order in which they are measured and printed."""
