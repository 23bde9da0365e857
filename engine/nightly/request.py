"""The request of a night (typed, JSON-able, a form in the Prefect UI) and its file of suites."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationInfo, ValidatorFunctionWrapHandler, field_validator, model_validator
from pydantic_core import PydanticKnownError

from eval_skills.core.config.options import FlowOptions
from eval_skills.core.config.values import NightFailOn
from eval_skills.core.documents.loading import read_document, validate
from eval_skills.core.models import Model
from eval_skills.core.models.base import Identifier, Rate, Text
from eval_skills.core.models.form import Form
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.skill_effect.request import SkillEffectSuite
from eval_skills.engine.stored_runs.run_ids import names_run


class NightGate(Model):
    """What fails a night for its caller; `margin` is the loss that `fail_on` not-proven tolerates."""

    exit_on_fail: bool = False
    fail_on: NightFailOn | None = None
    margin: Rate | None = None

    @property
    def is_asked(self) -> bool:
        """Whether anything fails it."""
        return self.exit_on_fail or self.fail_on is not None


class NightlyRequest(Form):
    """Evaluate the suites of a file and compare each skill with its good nights and with its baseline.

    Relative paths are read from the working directory of the process that runs the flow, those in the file from its folder.
    """

    suites: Text = Field(
        title="File of suites", description="A YAML or JSON file of suites: name, skills, benchmark, baseline, via, options"
    )
    store: Text = Field(default="./eval-store", description="Where results are kept; workers of other suites share it")
    baseline: Text | None = Field(default=None, description="A run id or a JSON report, for the suites that name no baseline")
    confirm_runs: int = Field(
        title="Fresh runs to confirm",
        default=6,
        ge=1,
        le=1000,
        description="Fresh runs of each task that moved, before it is an alarm",
    )
    keep_days: int | None = Field(
        title="Days to keep items",
        default=None,
        ge=1,
        le=36_500,
        description="Delete items older than this many days; reports stay [default: keep all]",
    )
    via_timeout_minutes: int = Field(
        title="Time limit of a deployment, minutes",
        default=360,
        ge=1,
        le=10_080,
        description="How long a deployment may take for a suite before its run counts as failed",
    )
    resume: Text | None = Field(
        title="Resume a night",
        default=None,
        description="Continue an interrupted night: its id, the run id of one of its suites, or latest",
    )
    options: FlowOptions = Field(
        title="Options of all suites",
        default_factory=lambda: FlowOptions(),
        description="What holds for suites that say nothing else in their options",
    )
    provenance: dict[str, Any] = Field(
        default_factory=dict, description="What the caller holds the night to, for the manifests of its runs; JSON data"
    )


OF_THE_NIGHT = frozenset({"benchmark", "store", "resume", "retry_errors", "fail_fast"})
"""Options of a run that a suite cannot set: they are said elsewhere, or would make nights that cannot be compared."""


class Suite(Model):
    """Skills × benchmark × options, or what an Agent Skill changes (`skill_effect`), evaluated together every night."""

    name: Identifier = Field(description="What the suite is called, every night: a-z, 0-9, _ and -")
    skill_effect: SkillEffectSuite | None = Field(
        default=None,
        description="In place of skills and benchmark: what an Agent Skill changes, as skill-effect asks",
    )
    options: FlowOptions = Field(default_factory=lambda: FlowOptions(), description="Options of the runs, as of eval-skills eval")
    skills: list[Text] = Field(
        default=None, min_length=1, validate_default=True, description="skill.json files, skill folders, or folders of skills"
    )  # fmt: skip
    benchmark: Text | None = Field(
        default=None,
        validate_default=True,
        description="A built-in id, or the path of a benchmark file or folder; options.tasks replaces it",
    )
    task_tags: list[Text] = Field(default_factory=list, description="Only tasks with all of these tags")
    retired: list[Text] = Field(
        default_factory=list, description="Skills (id or id@version) that are gone on purpose and are not missed"
    )
    baseline: Text | None = Field(default=None, description="What every night is compared with: a run id, or a JSON report")
    via: Text | None = Field(
        default=None, description="The deployment that evaluates it, as flow/deployment [default: this process]"
    )

    @field_validator("skills", "benchmark", mode="wrap")
    @classmethod
    def _is_named_unless_an_effect_is_asked(cls, value: Any, checked: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        if info.data.get("skill_effect", ...) is not None:  # or what it says is wrong, and is told first
            if value is not None:
                raise ValueError("leave it out: skillEffect names the Agent Skills; other tasks than theirs are options.tasks")
            return [] if info.field_name == "skills" else None
        if value is not None:
            return checked(value)
        if info.field_name == "benchmark" and ((options := info.data.get("options")) is None or options.tasks is not None):
            return None
        raise PydanticKnownError("missing")

    @field_validator("via")
    @classmethod
    def _names_a_deployment(cls, value: str | None) -> str | None:
        if value is not None and len(list(filter(None, value.split("/")))) != 2:
            raise ValueError(f"name a deployment as flow/deployment, such as evaluate/gpu; got {value!r}")
        return value

    @field_validator("options", mode="before")
    @classmethod
    def _names_the_model_under_llm(cls, options: Any) -> Any:
        if isinstance(options, Mapping) and (name := next((name for name in _JUDGE_MODEL if name in options), None)):
            raise ValueError(f"the judging model is named in the group llm, as llm: {{model: {options[name]}}}, not by {name}")
        return options

    @field_validator("options")
    @classmethod
    def _leaves_the_night_its_own(cls, options: FlowOptions) -> FlowOptions:
        for name in sorted(options.model_fields_set & OF_THE_NIGHT):
            alias = FlowOptions.model_fields[name].alias
            raise ValueError(f"{alias} is not an option of a suite; {_ELSEWHERE.get(name, 'a night evaluates all of it')}")
        return options

    def request(self, defaults: FlowOptions, **own: Any) -> EvaluateRequest:
        """The evaluation of the suite: its own options over those of the night; report files only where it names formats.

        Groups (`llm`, `weights`, `tool_categories`) are merged key by key, as layers of the configuration are; a list is replaced
        whole.
        """
        said = _over(defaults.model_dump(exclude_unset=True), self.options.model_dump(exclude_unset=True))
        fixed = {"skills": self.skills, "task_tags": self.task_tags, "fail_fast": False}
        fixed |= {} if self.benchmark is None else {"benchmark": self.benchmark}
        return EvaluateRequest(**{"format": [], **said, **fixed, **own})


_JUDGE_MODEL = ("judgeModel", "judge_model", "judge-model")
"""What the command line calls the one key of a group."""

_ELSEWHERE = {"benchmark": "it is a key beside options", "store": "all suites of a night share one; say it with --store"}


class Suites(Model):
    """A file of suites."""

    suites: list[Suite] = Field(min_length=1)

    @model_validator(mode="after")
    def _have_names_of_their_own(self) -> Self:
        names = [suite.name.replace("_", "-") for suite in self.suites]
        if twice := next((suite.name for suite in self.suites if names.count(suite.name.replace("_", "-")) > 1), None):
            raise ValueError(f"two suites are called {twice!r} (- and _ count as one letter); their histories would be one")
        return self


def load_suites(path: Path) -> list[Suite]:
    """The suites of a YAML or JSON file. Relative paths in it start at its folder.

    Raises:
        InputError: the file is missing or malformed; the message names the place (``suites[1].options.runs``) and the nearest
            known key.
    """
    suites = validate(Suites, read_document(path), source=path).suites
    return [_placed(suite, path.resolve().parent) for suite in suites]


def _placed(suite: Suite, folder: Path) -> Suite:
    options = {
        name: _path(folder, value)
        for name in suite.options.model_fields_set & {"tasks", "benchmarks_dir", "output_dir"}
        if (value := getattr(suite.options, name)) is not None
    }
    benchmark, baseline = suite.benchmark, suite.baseline
    if benchmark is not None and ("/" in benchmark or Path(benchmark).suffix):  # otherwise it is an id
        benchmark = _path(folder, benchmark)
    return suite.model_copy(
        update={
            "skills": [_path(folder, skill) for skill in suite.skills],
            "benchmark": benchmark,
            "skill_effect": suite.skill_effect and suite.skill_effect.placed(folder),
            "baseline": baseline if baseline is None or names_run(baseline, folder) else _path(folder, baseline),
            "options": suite.options.model_copy(update=options),
        }
    )


def _path(folder: Path, text: str) -> str:
    return str(folder / Path(text).expanduser())


def _over(lower: Mapping[str, Any], higher: Mapping[str, Any]) -> dict[str, Any]:
    """Both, merged key by key at every depth; values of `higher` win."""
    groups = [
        name for name in lower.keys() & higher.keys() if isinstance(lower[name], Mapping) and isinstance(higher[name], Mapping)
    ]
    return {**lower, **higher, **{name: _over(lower[name], higher[name]) for name in groups}}
