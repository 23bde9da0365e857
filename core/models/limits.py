"""The limits of a task, and how much each dimension of its score counts; the configuration has weights, too."""

from __future__ import annotations

from pydantic import Field

from eval_skills.core.models.base import Model
from eval_skills.core.models.form import Form


class Thresholds(Model):
    """Gates, each passed at equality: a score in points of 100, a cost in USD, a latency in ms, a number of turns."""

    min_score: float | None = Field(default=None, ge=0, le=100)
    max_cost: float | None = Field(default=None, ge=0)
    max_latency: float | None = Field(default=None, ge=0)
    max_turns_used: int | None = Field(
        default=None, ge=1, exclude_if=lambda limit: limit is None
    )  # not in the JSON of other tasks: their digests are older


class Weights(Form):
    """Weights of the dimensions; what is not named keeps the next layer's value. They need not sum to 1."""

    tool_accuracy: float | None = Field(
        default=None, ge=0, description="Share of the expected tools that were called; 0.3 unless set", examples=[0.3]
    )
    output_quality: float | None = Field(
        default=None, ge=0, description="What the evaluator says of the answer; 0.5 unless set", examples=[0.5]
    )
    sequence_correctness: float | None = Field(
        default=None, ge=0, description="Share of the expected order of tools that was kept; 0.2 unless set", examples=[0.2]
    )

    def named(self) -> dict[str, float]:
        """Only the weights that were given."""
        return self.model_dump(exclude_none=True)
