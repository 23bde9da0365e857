"""``timing.json``: how long a run took, and how many tokens."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from eval_skills.agent_skills.documents import Document

TIMING_FILE = "timing.json"


class Timing(Document):
    """None is unknown, never 0. `total_duration_seconds` has the graders' time in it where there is one."""

    total_tokens: int | None = Field(default=None, ge=0)
    duration_ms: float | None = Field(default=None, ge=0)
    total_duration_seconds: float | None = Field(default=None, ge=0)
    executor_duration_seconds: float | None = Field(default=None, ge=0)
    grader_duration_seconds: float | None = Field(default=None, ge=0)

    @property
    def seconds(self) -> float | None:
        """How long the agent worked: without its grader where that is known."""
        if self.executor_duration_seconds is not None:
            return self.executor_duration_seconds
        if self.duration_ms is not None:
            return self.duration_ms / 1000
        return self.total_duration_seconds

    def or_else(self, other: Timing) -> Timing:
        """What is known here, and else there."""
        return Timing.model_validate(other.known() | self.known())

    def known(self) -> dict[str, Any]:
        """What is known."""
        return self.model_dump(exclude_none=True)


def timing_of(seconds: float | None, tokens: int | None) -> dict[str, Any]:
    """The content of the file, in the spellings of both the guide and skill-creator.

    What is unknown is left out: the script that sums up these files adds the durations that it finds.
    """
    found: dict[str, Any] = {} if tokens is None else {"total_tokens": tokens}
    if seconds is not None:
        found |= {"duration_ms": round(seconds * 1000), "total_duration_seconds": round(seconds, 3)}
    return found
