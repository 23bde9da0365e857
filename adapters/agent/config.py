"""What `adapterConfig` may hold for an agent, and the paths in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import Field, model_validator

from eval_skills.adapters.config import Command, Limits, ProcessConfig
from eval_skills.adapters.template.placeholder import has_placeholder
from eval_skills.agent_skills.folder import AgentSkill, read_agent_skill
from eval_skills.core.config.values import VariableName
from eval_skills.core.errors import InputError
from eval_skills.core.models import Skill
from eval_skills.core.models.base import Text

MAX_STEPS = 50
"""How many turns the model of an agent has, by default."""


DISK_MB = 10_240
"""How much an item may hold on the disk, by default; in MiB."""


class AgentLimits(Limits):
    """Limits of each process, and of an item: `disk_mb` is what its workspace, home and temporary files hold on the disk together
    (MiB; holes and further names of a file are free)."""

    disk_mb: int = Field(default=DISK_MB, gt=0, le=2**30)


class AgentConfig(ProcessConfig):
    """Options of an agent, whose entrypoint names its runtime.

    `model` is named as the runtime names models; `base_url` is the address of its API where it is not the provider's own. The
    variable `api_key_env` holds the key: that one is handed on and no other. `skills` are the folders of the Agent Skills to
    install, and `fixtures` is the folder below which the files of a task are looked up (default: the skill's own); both start at
    the skill's folder. `command` is the agent's program where that is not on PATH under its usual name.

    An item ends as an error after `max_steps` turns of the model, once it has cost more than `max_cost_usd`, and once it holds
    more on the disk than its `limits` allow. With
    `stop_when_skill_loaded` it ends, without an error, as soon as an Agent Skill is loaded. `watched_skills` are names of Agent
    Skills that are not installed: that the agent loads one all the same, from elsewhere on the machine, is recorded.
    `allow_unsandboxed` lets the runtime ``builtin`` run shell commands outside of a sandbox where there is none.
    """

    limits: AgentLimits = AgentLimits()
    model: Text | None = None
    api_key_env: VariableName | None = None
    base_url: Text | None = None
    skills: list[Text] = Field(default_factory=list)
    fixtures: Text | None = None
    command: Command | None = None
    max_steps: int = Field(default=MAX_STEPS, ge=1, le=10_000)
    max_cost_usd: float | None = Field(default=None, gt=0)
    stop_when_skill_loaded: bool = False
    watched_skills: list[Text] = Field(default_factory=list)
    allow_unsandboxed: bool = False

    @model_validator(mode="after")
    def _same_for_every_item(self) -> AgentConfig:
        if self.base_url is not None and has_placeholder(self.base_url):
            raise ValueError("baseUrl has a placeholder, but is not filled in; the input of an item is in its prompt")
        return self


def folder_of(skill: Skill) -> Path:
    """The folder at which the paths of an agent's configuration start.

    Raises:
        InputError: it was made in memory and has none.
    """
    if skill.folder is None:
        message = (
            "an agent's Agent Skills and fixtures are looked up in its folder, and this skill has none; load it from a skill.json"
        )
        raise InputError(message, source=skill.key)
    return skill.folder.absolute()


def fixtures_of(skill: Skill, config: AgentConfig) -> Path:
    """The folder that holds the files of tasks.

    Raises:
        InputError: there is no such folder.
    """
    folder = folder_of(skill) / Path(config.fixtures or ".").expanduser()
    if not folder.is_dir():
        message = f"there is no folder {folder}; create it, or name the one that holds the files of the tasks"
        raise InputError(message, source=skill.folder, path="adapterConfig.fixtures")
    return folder


def outside(skill: Skill, config: AgentConfig) -> list[str]:
    """A remark on what is used and lies outside of the folder of the skill, whose digest does not cover it; none without."""
    own = folder_of(skill).resolve()
    named = [*config.skills, *([config.fixtures] if config.fixtures else [])]
    found = [text for text in named if not (own / Path(text).expanduser()).resolve().is_relative_to(own)]
    means = "so a change in it is not seen as a change of the skill"
    return [f"{', '.join(found)} lies outside of its folder, {means}; copy it there to be sure"] if found else []


def agent_skills_of(skill: Skill, config: AgentConfig) -> tuple[AgentSkill, ...]:
    """The Agent Skills to install, in the order in which they are listed.

    Raises:
        InputError: one cannot be read, or two have one name.
    """
    return tuple(_read(skill, config))


def _read(skill: Skill, config: AgentConfig) -> Iterator[AgentSkill]:
    seen: dict[str, str] = {}
    for index, text in enumerate(config.skills):
        place = f"adapterConfig.skills[{index}]"
        try:
            found = read_agent_skill(folder_of(skill) / Path(text).expanduser())
        except InputError as error:
            raise InputError(str(error), source=skill.folder, path=place) from None
        if found.name in seen:
            message = (
                f"{text} has the name {found.name!r}, and so has {seen[found.name]}; an agent tells its skills by their names"
            )
            raise InputError(message, source=skill.folder, path=place)
        seen[found.name] = text
        yield found
