"""What was found in a benchmark: by which rule, how bad it is, where, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]

RULES: dict[str, str] = {
    "no-expectation": "a generated task that expects nothing yet; eval refuses it",
    "impossible-expectation": "the answer that a task expects fails its own evaluator",
    "contradiction": "two tasks ask the same and accept only different answers",
    "no-negative-case": "an answer that knows nothing (always the same, empty, or the input again) passes too many tasks",
    "empty-answer-passes": "an empty answer passes the task",
    "leaked-answer": "the expected answer stands in the input",
    "duplicate-input": "two tasks ask the same",
    "near-duplicate": "two tasks ask almost the same and expect the same",
    "never-discriminates": "every stored run of every skill passed the task, or none did",
    "unreviewed": "a generated task that nobody has accepted",
    "smallest-difference": "so few tasks show only a large difference between two skills",
}
"""The rules by id, the worst first."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding; `task` is the id of the task, None for the whole benchmark. `fix` says what to do."""

    rule: str
    severity: Severity
    task: str | None
    message: str
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lint:
    """The findings about one benchmark, the worst first, and what could not be checked.

    `unchecked` counts, by reason, the expectations (of tasks, or of turns) that were not scored. `figures` are the numbers behind
    the findings, as JSON data. `remarks` say what was not looked at as a whole.
    """

    benchmark: str
    tasks: int
    findings: list[Finding]
    checked: int = 0
    unchecked: dict[str, int] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def count(self, severity: Severity) -> int:
        """How many findings are that bad."""
        return sum(finding.severity == severity for finding in self.findings)


SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


def ordered(findings: list[Finding]) -> list[Finding]:
    """Errors first, then by rule; those of a rule in the order of the tasks."""
    rules = list(RULES)
    return sorted(findings, key=lambda each: (SEVERITIES.index(each.severity), rules.index(each.rule)))
