"""``grading.json``: which assertions held in a run, and by what evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field, field_validator, model_validator

from eval_skills.agent_skills.documents import Document
from eval_skills.agent_skills.workspaces.timing import Timing
from eval_skills.core.models.base import Rate, Text
from eval_skills.core.text import excerpt

GRADING_FILE = "grading.json"


class GradedAssertion(Document):
    """An assertion, whether it held (None: not judged), and the evidence."""

    text: Text
    passed: bool | None = None
    evidence: str | None = None

    @field_validator("evidence", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        return value if value is None or isinstance(value, str) else excerpt(value, 2_000)


class GradingSummary(Document):
    """The counts as the grader wrote them; None where it did not."""

    passed: int | None = Field(default=None, ge=0)
    failed: int | None = Field(default=None, ge=0)
    total: int | None = Field(default=None, ge=0)
    pass_rate: Rate | None = None


class ExecutionMetrics(Document):
    """What the agent did, as far as somebody counted it."""

    total_tool_calls: int | None = Field(default=None, ge=0)
    total_steps: int | None = Field(default=None, ge=0)
    errors_encountered: int | None = Field(default=None, ge=0)


class Grading(Document):
    """The file. Its list of assertions may be called `assertion_results` or `expectations`."""

    expectations: list[GradedAssertion] = Field(default_factory=list)
    summary: GradingSummary = GradingSummary()
    execution_metrics: ExecutionMetrics = ExecutionMetrics()
    timing: Timing = Timing()

    @model_validator(mode="before")
    @classmethod
    def _spelled(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        given = {key: part for key, part in value.items() if part is not None}
        listed = given.get("assertion_results")
        if listed and given.get("expectations") and listed != given["expectations"]:
            raise ValueError("assertion_results and expectations are two names of one list, and they differ; keep one")
        if not given.get("expectations") and "assertion_results" in given:
            given["expectations"] = given.pop("assertion_results")
        return given

    @property
    def judged(self) -> list[GradedAssertion]:
        """The assertions with a verdict."""
        return [each for each in self.expectations if each.passed is not None]

    @property
    def pass_rate(self) -> float | None:
        """The share, in [0, 1], of the judged assertions that held, else what the summary says; None where nothing was judged."""
        if (rate := rate_of(self.expectations)) is not None:
            return rate
        summary = self.summary
        if summary.total == 0:
            return None
        if summary.pass_rate is None and summary.passed is not None and summary.total:
            return summary.passed / summary.total
        return summary.pass_rate

    @property
    def disagreement(self) -> str | None:
        """Where the summary says something else than the assertions, in words; None where it does not."""
        said, counted = self.summary.pass_rate, self.pass_rate
        if not self.judged or said is None or counted is None or abs(said - counted) < 0.01:
            return None
        return f"its summary says {said:g}, and {sum(bool(each.passed) for each in self.judged)} of {len(self.judged)} held"


def grading_of(
    assertions: Sequence[GradedAssertion], *, tool_calls: int | None, steps: int | None, errors: int | None, timing: Any
) -> dict[str, Any]:
    """The content of the file, under both names of the list; null where something is unknown."""
    listed = [{"text": each.text, "passed": each.passed, "evidence": each.evidence or ""} for each in assertions]
    return {
        "assertion_results": listed,
        "expectations": listed,
        "summary": counts_of(assertions),
        "execution_metrics": {"total_tool_calls": tool_calls, "total_steps": steps, "errors_encountered": errors},
        "timing": timing,
    }


def counts_of(assertions: Sequence[GradedAssertion]) -> dict[str, Any]:
    """`passed`, `failed`, `total` and `pass_rate` of the judged ones; the rate is null where none was judged."""
    judged = [each for each in assertions if each.passed is not None]
    passed = sum(bool(each.passed) for each in judged)
    rate = rate_of(assertions)
    counts = {"passed": passed, "failed": len(judged) - passed, "total": len(judged)}
    return {**counts, "pass_rate": None if rate is None else round(rate, 4)}


def rate_of(assertions: Sequence[GradedAssertion]) -> float | None:
    """The share of the judged ones that held; None where none was judged."""
    judged = [each for each in assertions if each.passed is not None]
    return sum(bool(each.passed) for each in judged) / len(judged) if judged else None
