"""Reports and nights from outcomes, for the tests of nights: a task's runs as letters, p(ass), f(ail), i(nfrastructure error)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from eval_skills.core.metrics.tasks import count_tallies
from eval_skills.core.models import ConfidenceInterval, Latency, SkillCompletionReport, Summary, TaskResult, TokenCost
from eval_skills.core.nightly.comparisons import judged
from eval_skills.core.nightly.evidence import Night, SkillNight

Outcome = Mapping[str, str]
NIGHT = "20260102T000000Z-0002"
"""Tonight."""

STATUS: dict[str, dict[str, Any]] = {
    "p": {"status": "pass", "passed": True, "score": 1.0},
    "f": {"status": "fail", "passed": False, "score": 0.0},
    "i": {"status": "error", "passed": False, "error_kind": "infra", "error_message": "connection refused"},
}


def report(outcome: Outcome, skill: str = "adder", version: str = "1.0.0") -> SkillCompletionReport:
    letters = "".join(outcome.values())
    rate = letters.count("p") / max(1, len(letters))
    errors = letters.count("i") / max(1, len(letters))
    results = [
        TaskResult(task_id=task, run_index=index, **STATUS[letter])
        for task, runs in outcome.items()
        for index, letter in enumerate(runs)
    ]
    return SkillCompletionReport(
        skill_id=skill,
        skill_version=version,
        benchmark_id="sums",
        timestamp=datetime(2026, 1, 1, tzinfo=UTC),
        summary=Summary(
            completion_rate=rate,
            partial_score=rate,
            error_rate=errors,
            consistency_score=1.0,
            composite_score=rate,
            confidence_interval=ConfidenceInterval(lower=0.0, upper=1.0, method="wilson"),
            pass_at_k=None,
            pass_hat_k=None,
            flake_rate=None,
        ),
        latency=Latency(p50_ms=1.0, p95_ms=1.0, p99_ms=1.0, mean_ms=1.0),
        token_cost=TokenCost(prompt_tokens=None, completion_tokens=None, total_tokens=None, estimated_usd=None),
        task_results=results,
    )


def each(count: int, runs: str, **changed: str) -> dict[str, str]:
    """`count` tasks t0, t1 … with these runs, but for those that are named."""
    return {f"t{index}": runs for index in range(count)} | changed


def night(outcome: Outcome, night_id: str = "before", **fields: Any) -> Night:
    return Night(night_id=night_id, tallies=count_tallies(report(outcome).task_results), **fields)


def skill_night(tonight: Outcome, *past: Outcome, pinned: Outcome | None = None, **fields: Any) -> SkillNight:
    """A skill tonight, after good nights with these outcomes, and with its comparisons made."""
    reference = None if pinned is None else ("reference", night(pinned).tallies)
    before = [night(outcome, f"night {number}") for number, outcome in enumerate(past)]
    known = {"suite": "arithmetic", "tonight": night(tonight, NIGHT), "past": before, "pinned": reference}
    (skill,) = judged([SkillNight(**{**known, **fields})])
    return skill
