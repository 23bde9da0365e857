"""One thing that was looked at before money is spent, and what it means for a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from eval_skills.core.redaction import Redaction

Status = Literal["ok", "warning", "failed"]
STATUSES: tuple[Status, ...] = ("ok", "warning", "failed")


@dataclass(frozen=True, slots=True)
class Check:
    """What was found of one thing. `failed`: a run would fail or mislead; `warning`: it may. `remedy` is what to do then."""

    area: str
    name: str
    status: Status
    found: str
    remedy: str = ""

    def without_secrets(self, redaction: Redaction) -> Check:
        """The same, as others may see it."""
        return replace(self, found=redaction.text(self.found), remedy=redaction.text(self.remedy))


def counted(checks: Iterable[Check]) -> dict[str, int]:
    """How many checks ended in each status."""
    found = [check.status for check in checks]
    return {status: found.count(status) for status in STATUSES}


def document(checks: list[Check]) -> dict[str, Any]:
    """The checks as one JSON document."""
    listed = [
        {"area": each.area, "name": each.name, "status": each.status, "found": each.found, "remedy": each.remedy or None}
        for each in checks
    ]
    counts = counted(checks)
    return {"healthy": not counts["failed"], "counts": counts, "checks": listed}
