"""What a flow run is asked to do: typed, JSON-able, and a form in the Prefect UI."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import AwareDatetime, Field, model_validator

from eval_skills.adapters import Confinement
from eval_skills.core.config.options import CallOptions, PathText, ProcessLimits
from eval_skills.core.models import AdapterType
from eval_skills.core.models.base import Rate

Origin = Literal["run", "rescore", "replay", "monitor", "confirm", "traces"]
"""What wrote a row: a run of its own right, later work, or recorded runs (``traces``) that were not called here.

Only ``run`` and ``replay`` speak of a skill's course over time.
"""


def confinement_asked(options: ProcessLimits) -> Confinement:
    """What every skill is held to."""
    return Confinement(**{name: getattr(options, name) for name in ProcessLimits.model_fields})


class EvaluateRequest(CallOptions):
    """Evaluate these skills: the core of every pipeline."""

    skills: list[str] = Field(default_factory=list, description="skill.json files, skill folders, or folders of skills")
    task_tags: list[str] = Field(default_factory=list, description="Only tasks with all of these tags")
    task_ids: list[str] = Field(default_factory=list, description="Only the tasks with these ids")
    origin: Origin = Field(default="run", description="What the rows say they come from")
    provenance: dict[str, Any] = Field(default_factory=dict, description="Where the run comes from, for its manifest; JSON data")
    at: AwareDatetime | None = Field(
        default=None, strict=False, description="The moment, with its time zone, that the run is dated at [default: now]"
    )

    @model_validator(mode="after")
    def _calls_or_reads(self) -> Self:
        if self.skills and self.traces:
            raise ValueError("--skills are called and --traces are not; give one of them")
        return self


class PipelineRequest(CallOptions):
    """Find, evaluate, select, report."""

    skills_dir: PathText = Field(default="./skills", description="The folder that is searched for skills")
    query: str | None = Field(default=None, description="Text to find in name, description or tags")
    tags: list[str] = Field(default_factory=list, description="Only skills with all of these tags")
    adapter: AdapterType | None = Field(default=None, description="Only skills behind this adapter")
    top_k: int | None = Field(default=None, ge=1, description="Select at most this many")
    strategy: PathText | None = Field(default=None, description="A YAML or JSON file with filters, order and topK")
    min_completion: Rate | None = Field(  # type: ignore[assignment] # None: the strategy's own floor, else 0.7
        default=None, description="The completion rate that a selected skill must reach"
    )

    def evaluation(self, skills: list[str]) -> EvaluateRequest:
        """The evaluation of `skills` inside this pipeline, which writes the reports itself.

        What was not said stays unsaid: a resume then goes on as its run began.
        """
        said = (CallOptions.model_fields.keys() & self.model_fields_set) - {"min_completion"}
        shared: dict[str, Any] = {name: getattr(self, name) for name in said}
        return EvaluateRequest(**{**shared, "format": [], "skills": skills})
