"""What can be configured: every key, its default and what it may hold."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_validator

from eval_skills.core.config.options import PathText, RunOptions
from eval_skills.core.models.base import Text
from eval_skills.core.models.task import Weights


class Config(RunOptions):
    """The options of a run, and those of single commands that have a key at the top level.

    `benchmark` is an id or a path. `strategy` is the file of a selection strategy, `top_k` beats the one in it.
    """

    format: Annotated[list[Text], Field(min_length=1)] = RunOptions.model_fields["format"]  # type: ignore[assignment]  # the field, with a bound
    exit_on_fail: bool = Field(
        default=False, description="Exit with 1 when a skill is below minCompletion or calls a forbidden tool"
    )
    skills_dir: PathText = Field(default="./skills", description="Folder to search for skills")
    limit: int = Field(default=20, ge=1, description="Show at most this many")
    top_k: int | None = Field(
        default=None, ge=1, description="Select at most this many skills; beats the strategy's topK", examples=[3]
    )
    strategy: PathText | None = Field(
        default=None, description="File of a selection strategy: filters, sortBy, order, topK", examples=["./strategy.yaml"]
    )
    json_: bool = Field(default=False, alias="json", description="Print one JSON document on stdout and nothing else")
    color: bool = Field(default=True, description="Print with colour, where the output is a terminal and NO_COLOR is not set")
    verbose: bool = Field(default=False, description="Show Prefect's logs and tracebacks")

    @field_validator("weights")
    @classmethod
    def _weights_are_not_all_zero(cls, weights: Weights) -> Weights:
        named = weights.named()
        if len(named) == len(Weights.model_fields) and not any(named.values()):
            raise ValueError("all of them are 0, so nothing would be scored; give at least one a value above 0")
        return weights
