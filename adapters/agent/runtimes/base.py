"""What an agent's runtime is asked for: how its program is started for an item, and how its lines are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from eval_skills.adapters.agent.config import AgentConfig
from eval_skills.adapters.agent.transcript import Transcript
from eval_skills.agent_skills.folder import AgentSkill


@dataclass(frozen=True, slots=True)
class AgentRun:
    """What one item gives a runtime.

    `workspace` and `home` are folders that this item alone has; the files of the task are in the workspace already. `program` is
    how the agent's program is started: the words of `adapterConfig.command`, else its path.
    """

    prompt: str
    workspace: Path
    home: Path
    skills: tuple[AgentSkill, ...]
    config: AgentConfig
    api_key: str | None
    program: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """What is started, in the workspace. `env` is added to PATH, HOME, LANG and TMPDIR alone; `stdin` is what it can read, then
    comes the end of the file."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""


class AgentRuntime(Protocol):
    """One kind of agent. A runtime has no state: items run at the same time."""

    name: str
    """The entrypoint of its skills."""

    program: str
    """The usual name of its program on PATH; "" where it has none."""

    install: str
    """What a person does to get the program, as a phrase; for the message that it is missing."""

    needs: Mapping[str, str]
    """Other programs that have to be on PATH, each with what fails without it and what to do, as a phrase."""

    needs_network: bool
    """Whether it cannot work without reaching its model, so that a sandbox without the network is no use."""

    def check(self, config: AgentConfig) -> str:
        """What is missing in the configuration, as a phrase that says what to do; "" where nothing is."""
        ...

    def prepare(self, run: AgentRun) -> Command:
        """Write the agent's settings into its home or workspace, and install the skills where it looks for them
        (`workspace.install_skills`)."""
        ...

    def read(self, line: str, transcript: Transcript) -> bool:
        """Note what one line of its standard output says; False where it is none of its events, but a line of its log."""
        ...

    def version(self, program: tuple[str, ...]) -> tuple[str, ...]:
        """The command that prints the version of the agent; () where there is none."""
        ...


@runtime_checkable
class KeepsRecord(Protocol):
    """A runtime whose agent keeps a record of its own, which holds what its lines may lack."""

    def complete(self, home: Path, transcript: Transcript) -> str:
        """Add what the lines lacked, once the program has ended, in whatever way, or note that it is unknown; then a remark,
        else ""."""
        ...
