"""What a night is asked to do: typed, JSON-able, and a form in the Prefect UI."""

from __future__ import annotations

from pydantic import Field

from eval_skills.core.models import Model
from eval_skills.core.models.base import Text
from eval_skills.tasks.request import RunOptions


class NightlyRequest(Model):
    """Evaluate the suites of a file and compare each with its last good night and with its baseline.

    Relative paths are read from the working directory of the process that runs the flow, those in the file from its folder.
    """

    suites: Text = Field(description="A YAML or JSON file of suites: name, skills, benchmark, baseline, via, options")
    store: Text = Field(default="./eval-store", description="Where results are kept; workers of other suites share it")
    baseline: Text | None = Field(default=None, description="A run id or a JSON report, for the suites that name no baseline")
    confirm_runs: int = Field(default=6, ge=1, le=1000, description="Fresh runs of each task that moved, before it is an alarm")
    keep_days: int | None = Field(
        default=None, ge=1, le=36_500, description="Delete items older than this many days; reports stay [default: keep all]"
    )
    via_timeout_minutes: int = Field(
        default=360, ge=1, le=10_080, description="How long a deployment may take for a suite before its run counts as failed"
    )
    options: RunOptions = Field(
        default_factory=lambda: RunOptions(), description="What holds for suites that say nothing else in their options"
    )
