"""One bar of the house: what was measured, what it has to reach, and whether it does."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, Literal

Verdict = Literal["met", "missed", "not measured"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A measured figure beside its limit, in the same `unit` (``x`` is a ratio of two times or rates of the same run).

    `measured` is None where there is no figure; `detail` then says why, and otherwise what the figure was made of.
    """

    row: str
    what: str
    measured: float | None
    limit: float
    at_least: bool = False
    unit: str = "x"
    detail: str = ""

    @property
    def verdict(self) -> Verdict:
        """Equality meets the bar; a figure that is missing or not finite is never met."""
        if self.measured is None or not isfinite(self.measured):
            return "not measured"
        met = self.measured >= self.limit if self.at_least else self.measured <= self.limit
        return "met" if met else "missed"

    @property
    def margin(self) -> float | None:
        """How often the figure holds the bar, above 1 when it is met with room to spare; None without a figure."""
        if self.verdict == "not measured" or not self.measured:
            return None
        return self.measured / self.limit if self.at_least else self.limit / self.measured

    def to_json(self) -> dict[str, Any]:
        """Everything above as JSON-ready data."""
        return asdict(self) | {"verdict": self.verdict, "margin": self.margin}


def from_json(data: dict[str, Any]) -> Bar:
    """The bar that `to_json` wrote."""
    return Bar(**{name: data[name] for name in Bar.__slots__})
