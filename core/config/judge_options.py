"""How models judge: what every flow that scores answers can be told about it."""

from __future__ import annotations

from pydantic import Field

from eval_skills.core.config.settings import LlmSettings
from eval_skills.core.models.base import Model


class JudgeOptions(Model):
    """The model that judges, and how much of it. The limits hold for one run in one process."""

    llm: LlmSettings = Field(default_factory=LlmSettings, description="The model that judges, where a task asks for one")
    judge_concurrency: int = Field(default=4, ge=1, le=1024, description="How many questions go to judging models at a time")
    max_judge_cost: float | None = Field(
        default=None, ge=0, le=1e9, description="USD that judging may cost; then the rest of the items is not judged"
    )
    no_judge_cache: bool = Field(
        default=False, description="Ask judging models anew, also what they answered before, and keep nothing"
    )
    no_judge_check: bool = Field(default=False, description="Do not ask judging models for one token before the run begins")

    def judge_options(self) -> dict[str, object]:
        """These options alone, by field name."""
        return {name: getattr(self, name) for name in JudgeOptions.model_fields}
