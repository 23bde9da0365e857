"""What `adapterConfig` may hold, adapter by adapter."""

from __future__ import annotations

import shlex
import sys
from difflib import get_close_matches
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from eval_skills.core.config.values import (
    SANDBOX_MB,
    SANDBOX_PROCESSES,
    CpuSeconds,
    MemoryMb,
    OpenFiles,
    OutputBytes,
    SandboxMb,
    SandboxName,
    SandboxProcesses,
    VariableName,
)
from eval_skills.core.documents.loading import validate
from eval_skills.core.errors import InputError
from eval_skills.core.models import Model, Skill
from eval_skills.core.models.base import Text, known_keys

C = TypeVar("C", bound="AdapterConfig")

MAX_OUTPUT_BYTES = 5_000_000
"""How long one answer may be, by default."""

_SIMILAR = 0.81
"""From this likeness on, an unknown key counts as a misspelt known one (``persistant`` and ``persistent``: 0.9)."""


def _splittable(command: str) -> str:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"cannot be split into words ({str(error).lower()}); check its quotes") from None
    if not words:
        raise ValueError("is empty")
    return command


Command = Annotated[Text, AfterValidator(_splittable)]
"""Words as a shell would split them; no shell ever sees them."""


class AdapterConfig(Model):
    """The options of one adapter. Keys of one's own are free, unless they look like a misspelt option."""

    model_config = ConfigDict(extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _refuse_misspelt_keys(cls, data: Any) -> Any:
        spellings = {spelling.lower(): spelling for spelling in sorted(known_keys(cls))}
        for key in data if isinstance(data, dict) else ():
            if key not in known_keys(cls) and (near := get_close_matches(key.lower(), spellings, n=1, cutoff=_SIMILAR)):
                hint = f"(did you mean {spellings[near[0]]!r}?)"
                raise PydanticCustomError("unknown_key", "unknown key {key} {hint}", {"key": repr(key), "hint": hint})
        return data


class Limits(Model):
    """Limits of each process: `memory_mb` of data (MiB; reserved address space is free), `cpu_seconds` of computing since it
    started, `open_files` at a time (sockets and pipes count)."""

    memory_mb: MemoryMb | None = None
    cpu_seconds: CpuSeconds | None = None
    open_files: OpenFiles | None = None

    @model_validator(mode="after")
    def _enforceable(self) -> Limits:
        if any((self.memory_mb, self.cpu_seconds, self.open_files)) and not sys.platform.startswith("linux"):
            raise ValueError("limits are enforced on Linux only; remove them on this system")
        return self


class SandboxConfig(Model):
    """A sandbox, and what a skill needs in it beside its own folder and installations: paths to `show`, read-only, and ones
    that are `writable`. They begin with ``/`` or ``~/``, or start at the skill's folder. The name of a sandbox stands for its
    `type` alone; without one the paths hold where the caller asks for a sandbox.
    """

    type: SandboxName = "none"
    show: list[Text] = Field(default_factory=list)
    writable: list[Text] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _by_name(cls, data: Any) -> Any:
        return {"type": data} if isinstance(data, str) else data


class HookCommand(Model):
    """A command, and how long it may take; a text is the command alone."""

    command: Command
    timeout_ms: int = Field(default=30_000, gt=0)

    @model_validator(mode="before")
    @classmethod
    def _by_command(cls, data: Any) -> Any:
        return {"command": data} if isinstance(data, str) else data


class HookCommands(Model):
    """What is run once per run, and once per item."""

    run: HookCommand | None = None
    item: HookCommand | None = None


Session = Literal["run", "item"]
"""How long what a skill remembers lasts: for all items of a run, or for one."""


class ProcessConfig(AdapterConfig):
    """Options of every adapter that starts processes.

    `env` is added to the child's allow-listed environment, as are our variables named in `pass_env`, where they are set.
    `max_output_bytes` limits one answer. A `sandbox` has no network unless `network` is true. It runs at most `sandbox_processes`
    processes and threads at a time, and each of its private folders holds at most `sandbox_mb` MiB. `hidden_paths` are absolute
    paths that cannot be seen in it, except for the skill's own folder. `setup` runs before the skill is started and before each
    item, `teardown` after each item and when the skill is stopped.
    """

    env: dict[str, str] = Field(default_factory=dict)
    pass_env: list[VariableName] = Field(default_factory=list)
    limits: Limits = Limits()
    max_output_bytes: OutputBytes = MAX_OUTPUT_BYTES
    sandbox: SandboxConfig = SandboxConfig()
    network: bool = False
    sandbox_processes: SandboxProcesses = SANDBOX_PROCESSES
    sandbox_mb: SandboxMb = SANDBOX_MB
    hidden_paths: list[Text] = Field(default_factory=list)
    setup: HookCommands = HookCommands()
    teardown: HookCommands = HookCommands()


class CommandConfig(ProcessConfig):
    """`command` replaces the entrypoint, `args` are added to it as they are."""

    command: Command | None = None
    args: list[str] = Field(default_factory=list)


StartMethod = Literal["spawn", "forkserver"]
"""Where a fresh process comes from, in the words of Python's `multiprocessing`."""


class SubprocessConfig(CommandConfig):
    """`persistent` keeps workers warm; by default each call has a process of its own.

    `start_method` says how a Python script gets that: ``spawn`` starts an interpreter, ``forkserver`` forks one that has done the
    imports which the script begins with.
    """

    persistent: bool = False
    start_method: StartMethod = "spawn"


class HostedConfig(ProcessConfig):
    """Options of skills that are Python objects: `python` is the interpreter that loads them (default: ours), a program of
    PATH or a path from the skill's folder; `start_timeout_ms` bounds the loading. With the `session` ``item`` every item has a
    process of its own."""

    python: Text | None = None
    session: Session = "run"
    start_timeout_ms: int = Field(default=60_000, gt=0)

    @model_validator(mode="after")
    def _isolated(self) -> HostedConfig:
        for name in ("PYTHONPATH", "PYTHONHOME"):
            if name in self.env or name in self.pass_env:
                message = f"{name} has no effect on the isolated interpreter; put modules into the skill's folder, or name in"
                raise ValueError(f"{message} `python` an interpreter that has them installed")
        return self


class CustomConfig(HostedConfig):
    """`init` holds the arguments of a class; with `spread` the input's keys are the function's keyword arguments."""

    init: dict[str, Any] = Field(default_factory=dict)
    spread: bool = False


class InvokeConfig(Model):
    """What LangChain knows as the config of one call."""

    recursion_limit: int | None = Field(default=None, gt=0)
    max_concurrency: int | None = Field(default=None, gt=0)
    configurable: dict[str, Any] | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None
    run_name: Text | None = None


class LangchainConfig(HostedConfig):
    """`input_key` is the part of a graph's state that takes the input, `output_key` the one that holds the output."""

    call: Literal["ainvoke", "invoke"] | None = None
    input_key: Text | None = None
    output_key: Text | None = None
    invoke_config: InvokeConfig = InvokeConfig()


def read_config(model: type[C], skill: Skill) -> C:
    """The skill's `adapterConfig` as a `model`.

    Raises:
        InputError: with the skill's folder (or its key), the path inside the skill, and what is wrong there.
    """
    try:
        return validate(model, skill.adapter_config, source=source_of(skill))
    except InputError as error:
        path = f"adapterConfig.{error.path}" if error.path else "adapterConfig"
        raise InputError(error.message, source=error.source, path=path) from None


def source_of(skill: Skill) -> str:
    """What an error names as the place of `skill`: its folder, or its key when it was built in memory."""
    return str(skill.folder) if skill.folder is not None else skill.key
