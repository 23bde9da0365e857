"""An experiment with Agent Skills as a suite of a night writes it: the options of ``eval-skills skill-effect`` as keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from eval_skills.adapters.agent.runtimes.registry import runtime_names
from eval_skills.core.config.values import VariableName
from eval_skills.core.models import Model
from eval_skills.core.models.base import Identifier, Text
from eval_skills.core.skill_effect.gate import FailOn
from eval_skills.core.skill_effect.model import Arm, chosen_arms
from eval_skills.core.text import nearest
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.skill_effect.arms import Agent, Arms
from eval_skills.engine.skill_effect.experiment import experiment, tasks_of


class SkillEffectSuite(Model):
    """Which Agent Skills, in which arms, on which agent. The tasks, and how often each is asked, are options of the run."""

    skills: list[Text] = Field(min_length=1, description="Folders with a SKILL.md; several are installed together")
    arms: list[Text] | None = Field(
        default=None, description="Arms to compare: with without old sham [default: with without, and old]"
    )
    old: Text | None = Field(
        default=None, description="Earlier version for the arm old: a git revision such as HEAD~1, or a folder"
    )
    agent: Text = Field(default="builtin", description="Agent: builtin opencode codex gemini claude-code custom")
    model: Text | None = Field(default=None, description="Model that the agent is to use, in its own words")
    api_key_env: VariableName | None = Field(
        default=None, description="Environment variable with the model's key: the only one that the agent is given"
    )
    base_url: Text | None = Field(default=None, description="Address of the model's API, where it is not the provider's own")
    agent_options: dict[str, Any] = Field(default_factory=dict, description="More of the agent's adapterConfig")
    allow_unsandboxed: bool = Field(default=False, description="Let builtin run commands where bubblewrap is missing")
    called: Identifier | None = Field(
        default=None,
        description="What the ids of the arms begin with, as in ID-with [default: the name of the Agent Skill]",
    )
    fail_on: FailOn = Field(
        default="worse",
        description="What fails the night's gate: that the Agent Skill makes it worse, or is not proven to make it better",
    )

    @field_validator("agent")
    @classmethod
    def _is_an_agent(cls, value: str) -> str:
        if value not in runtime_names():
            raise ValueError(f"unknown agent {value!r}{nearest(value, runtime_names())}; valid are {', '.join(runtime_names())}")
        return value

    @model_validator(mode="after")
    def _compares_arms(self) -> Self:
        try:
            arms = chosen_arms(self.arms, self.old)
        except ValueError as error:
            raise ValueError(f"arms: {error}") from None
        if "old" in arms and self.old is None:
            raise ValueError("the arm old needs an earlier version; give old, a git revision such as HEAD~1 or a folder")
        return self

    @property
    def chosen(self) -> list[Arm]:
        """The arms, in their order."""
        return chosen_arms(self.arms, self.old)

    @property
    def sources(self) -> list[Path]:
        """The folders of the Agent Skills."""
        return [Path(skill) for skill in self.skills]

    def tasks(self, given: str | None) -> str:
        """The file of tasks; see `tasks_of`. Raises UsageError: there is none."""
        return str(tasks_of(self.sources, given))

    def placed(self, folder: Path) -> Self:
        """The same, with relative paths that start at `folder`; an `old` that is not a folder there is a revision."""
        old = self.old
        if old is not None and (folder / Path(old).expanduser()).is_dir():
            old = str(folder / Path(old).expanduser())
        return self.model_copy(update={"skills": [str(folder / Path(skill).expanduser()) for skill in self.skills], "old": old})

    def experiment(self, request: EvaluateRequest, root: Path) -> tuple[EvaluateRequest, Arms]:
        """The evaluation of `request` with the arms in place of its skills; they are written below `root`. See `experiment`."""
        return experiment(self.sources, self.chosen, self.asked_agent, request, old=self.old, root=root, called=self.called)

    @property
    def asked_agent(self) -> Agent:
        """The agent that they describe."""
        said = {
            "apiKeyEnv": self.api_key_env,
            "baseUrl": self.base_url,
            "allowUnsandboxed": self.allow_unsandboxed or None,
        }
        named = {key: value for key, value in said.items() if value is not None}
        return Agent(runtime=self.agent, model=self.model, config={**self.agent_options, **named})
