"""What earlier backfills left of each period, by the digest of what went into it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from eval_skills.core.store import Store

Line = tuple[str, str]
"""A skill's id and a benchmark's: what is compared along it."""

Stood = tuple[Any, ...]
"""A version, the run that its figures are from, its completion rate and its error rate; all None where there was nothing."""

_NOW = ("skill_version", "run_id", "completion_rate", "error_rate")
_THEN = tuple(f"before_{name.removeprefix('skill_')}" for name in _NOW)


@dataclass(slots=True)
class LandedPeriod:
    """What the last backfill of a period came to, at the moment `at`.

    `problem` is why it could use nothing, None where it came to figures; `unjudged` are the items that the judge failed. `stood`
    is where each line stood, `compared` what it was compared with.
    """

    at: datetime
    problem: str | None
    unjudged: int
    stood: dict[Line, set[Stood]] = field(default_factory=dict)
    compared: dict[Line, set[Stood]] = field(default_factory=dict)

    def is_behind(self, last: Mapping[Line, LandedPeriod]) -> bool:
        """Whether the periods before, the `last` of each line, came to other figures since, and this one was not done again.

        So it is when a call was stopped in between.
        """
        return any(
            (then := last.get(line)) is not None and then.at > self.at and not compared <= then.stood[line]
            for line, compared in self.compared.items()
        )


def last_outcomes(store: Store) -> dict[str, LandedPeriod]:
    """What has landed, by digest; of several backfills of one period the last."""
    said = ("skill_id", "benchmark_id", "explanation", "backfilled_at", "digest", "unjudged_items")
    found: dict[str, LandedPeriod] = {}
    for row in sorted(store.tables.rows("comparisons", (*said, *_NOW, *_THEN)), key=lambda row: row["backfilled_at"]):
        known = found.get(row["digest"])
        if known is None or known.at < row["backfilled_at"]:
            problem = None if row["skill_id"] else row["explanation"] or ""
            known = found[row["digest"]] = LandedPeriod(row["backfilled_at"], problem, row["unjudged_items"] or 0)
        if row["skill_id"]:
            line = row["skill_id"], row["benchmark_id"]
            known.stood.setdefault(line, set()).add(tuple(row[name] for name in _NOW))
            known.compared.setdefault(line, set()).add(tuple(row[name] for name in _THEN))
    return found
