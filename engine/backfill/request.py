"""What a backfill is asked to do: typed, JSON-able, and a form in the Prefect UI."""

from __future__ import annotations

from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Literal, Self

from pydantic import AwareDatetime, Field, field_validator, model_validator

from eval_skills.core.config import LlmSettings
from eval_skills.core.config.options import FlowOptions
from eval_skills.core.config.values import BackfillEvery, BackfillMode, PathText
from eval_skills.core.models import Weights
from eval_skills.core.models.base import Text
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.rescoring.request import RescoreRequest, ScoringOptions

_NOT_OF_A_REPLAY = frozenset({"format", "fail_fast", "min_completion", "resume", "retry_errors"})


class BackfillRequest(FlowOptions):
    """Rebuild what is known of a past time, period by period, and compare each with the one before.

    *recompute* makes the reports anew from the stored items; *rescore* judges the stored answers again; *replay* evaluates past
    revisions of the skills. How a replay runs is what the other options say. None: as it was then.
    """

    form_first = ("mode", "since", "until", "every", "skills_repo", "skills_path", "force")

    mode: BackfillMode = Field(
        description="recompute: from stored items; rescore: from stored answers; replay: run past revisions"
    )
    since: AwareDatetime | None = Field(default=None, strict=False, description="Begin with this moment [default: the first run]")
    until: AwareDatetime | None = Field(
        title="Until", default=None, strict=False, description="End before this moment [default: now]"
    )
    every: BackfillEvery = Field(
        title="Length of a period",
        default="day",
        description="What a period is: a day or ISO week (UTC), each run, each tag of the repository",
    )
    skills_repo: str | None = Field(
        title="Repository of the skills", default=None, description="replay: the git repository of the skills"
    )
    skills_path: Text = Field(
        title="Folder in the repository", default=".", description="replay: the folder of skills inside the repository"
    )
    force: bool = Field(title="Also what is up to date", default=False, description="Also the periods that are up to date")
    benchmark: Text | None = Field(  # type: ignore[assignment] # None: that of each run; of a replay coding-easy
        default=None, description="A built-in id, or the path of a benchmark [default: each run's own, as it is today]"
    )
    benchmarks_dir: PathText | None = Field(
        title="Folder of benchmarks",
        default=None,
        description="A folder of benchmarks, searched before the built-in ones [default: each run's own]",
    )
    evaluator: Text | None = Field(
        title="Scorer",  # type: ignore[assignment] # None: that of each run
        default=None,
        description="The scorer of tasks that name none [default: each run's own]",
    )
    weights: Weights | None = Field(
        title="Weights of dimensions",  # type: ignore[assignment] # None: those of each run
        default=None,
        description="Weights of the dimensions of agent runs [default: each run's own]",
    )
    tool_categories: dict[str, list[str]] | None = Field(  # type: ignore[assignment] # None: those of each run
        default=None, description="Tools by intent, beside the default table [default: each run's own]"
    )
    llm: LlmSettings | None = Field(
        title="Judging model",  # type: ignore[assignment] # None: that of each run
        default=None,
        description="The model that judges [default: each run's own]",
    )
    tool_names: Literal["exact", "normalised"] | None = Field(  # type: ignore[assignment] # None: that of each run
        default=None, description="How names of tools are compared [default: as in each run]"
    )

    @field_validator("skills_path")
    @classmethod
    def _stays_in_the_repository(cls, path: str) -> str:
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            raise ValueError(f"{path!r} leads out of the repository; give a folder inside it, as skills")
        return path

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.resume or self.retry_errors:
            raise ValueError("a backfill goes on by itself: make the same call again, without --resume")
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise ValueError(f"--until is not after --since: {_day(self.since)} to {_day(self.until)}")
        if (self.mode == "replay") != (self.skills_repo is not None):
            raise ValueError("--skills-repo and --mode replay belong together: a replay evaluates the revisions of a repository")
        if self.mode != "replay" and self.skills_path != type(self).model_fields["skills_path"].default:
            raise ValueError(f"--skills-path is for --mode replay; --mode {self.mode} calls no skill")
        if self.every == "tag" and self.mode != "replay":
            raise ValueError(f"--every tag is for --mode replay; --mode {self.mode} goes by day, week or run")
        if self.every == "run" and self.mode == "replay":
            raise ValueError("--every run is for stored runs; --mode replay goes by day, week or tag")
        return self

    def scoring(self) -> ScoringOptions:
        """What answers are judged by."""
        return ScoringOptions(**self._said(ScoringOptions))

    def rescoring(self, run_id: str) -> RescoreRequest:
        """The request to score one run again."""
        return RescoreRequest(**{**self._said(ScoringOptions), **self._said(RescoreRequest), "run_id": run_id})

    def evaluation(self, **fields: Any) -> EvaluateRequest:
        """The request to evaluate a revision; `fields` are those that are not options of the backfill."""
        said = {name: getattr(self, name) for name in FlowOptions.model_fields.keys() & self.model_fields_set - _NOT_OF_A_REPLAY}
        return EvaluateRequest(**{**{name: value for name, value in said.items() if value is not None}, "format": [], **fields})

    def _said(self, model: type[ScoringOptions]) -> dict[str, Any]:
        return {name: getattr(self, name) for name in model.model_fields.keys() & type(self).model_fields.keys()}


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"
