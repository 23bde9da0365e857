"""Limits of a process and the sandbox: what the caller sets for all skills, how the system is told, how a reached limit is named.

A skill itself may only be stricter.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from eval_skills.adapters.config import MAX_OUTPUT_BYTES, Limits
from eval_skills.core.config.values import SANDBOX_MB, SANDBOX_PROCESSES, SandboxName, SandboxNetwork, SandboxPaths
from eval_skills.core.errors import ContractError, ItemError, SkillError, SkillTimeout, UsageError
from eval_skills.core.models import Skill

_MIB = 1024 * 1024

_LIMIT_AND_RUN = """
import json, os, resource, sys
for name, pair in json.loads(sys.argv[1]).items():
    resource.setrlimit(getattr(resource, "RLIMIT_" + name.upper()), tuple(pair))
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as error:
    sys.exit(print(f"cannot start {sys.argv[2]!r}: {error.strerror}", file=sys.stderr) or 127)
"""
"""What ``prlimit`` does, where that is not installed."""

_CPU_STRUCK = re.compile(r"\((?:killed by SIGXCPU|exit code 152|[\w ]+ after all of its CPU time)\)")
"""The signal itself, or as a program passes it on that waited for the one that got it (128 + 24); or the SIGKILL that follows."""

_MEMORY_STRUCK = re.compile(
    r"MemoryError|bad_alloc|OutOfMemory|out of memory|cannot allocate memory|memory allocation of \d+ bytes failed|\bENOMEM\b|"
    r"cannot map zero-fill pages|failed to map segment",
    re.I,
)
"""The system refuses memory without a signal: that the limit was reached is known only from what the runtime then prints."""

_FILES_STRUCK = re.compile(r"too many open files|\bEMFILE\b|\bErrno 24\b|\berror 24\b", re.I)


def limited(argv: Sequence[str], limits: Limits) -> tuple[str, ...]:
    """What to start so that `argv` runs under `limits` from its first moment, as does everything that it starts.

    To set them on a process that runs already would miss what it is starting just then.
    """
    values = _values(limits)
    if not values:
        return tuple(argv)
    if (program := shutil.which("prlimit")) is not None:
        return (program, *(f"--{name}={soft}:{hard}" for name, (soft, hard) in values.items()), "--", *argv)
    return (sys.executable, "-I", "-S", "-c", _LIMIT_AND_RUN, json.dumps(values), *argv)


def limited_processes(argv: Sequence[str], processes: int) -> tuple[str, ...]:
    """What to start inside a sandbox so that at most `processes` processes and threads run in it at a time.

    Within its user namespace the system counts what runs there alone; outside, it would count everything of the user's. Root is
    exempt from this limit by the kernel (``kernel/fork.c``), whatever its capabilities.
    """
    if (program := shutil.which("prlimit")) is not None:
        return (program, f"--nproc={processes}", "--", *argv)
    return (sys.executable, "-I", "-S", "-c", _LIMIT_AND_RUN, json.dumps({"nproc": (processes, processes)}), *argv)


def limit_reached(limits: Limits, text: str) -> str:
    """The limit that explains a failure with this text, its value and what can be done; "" if none does."""
    if limits.cpu_seconds is not None and _CPU_STRUCK.search(text):
        return f"CPU limit of {limits.cpu_seconds} s reached; raise limits.cpuSeconds and --cpu-seconds if it may compute longer"
    if limits.memory_mb is not None and _MEMORY_STRUCK.search(text):
        return f"memory limit of {limits.memory_mb} MB reached; raise limits.memoryMb and --memory-mb if it may hold more"
    if limits.open_files is not None and _FILES_STRUCK.search(text):
        return f"limit of {limits.open_files} open files reached; raise limits.openFiles and --open-files if it may hold more"
    return ""


def name_limit(error: ItemError, limits: Limits) -> ItemError:
    """The error as the skill's own (kind ``skill``, never tried again) where one of its limits was reached, else unchanged."""
    found = "" if isinstance(error, SkillTimeout) else limit_reached(limits, str(error))
    if not found:
        return error
    return SkillError(f"{found}: {error}", latency_ms=error.latency_ms, logs=error.logs, known=error.known)


def too_long(what: str, max_bytes: int) -> ContractError:
    """That an answer is above its limit, and what can be done; kind ``contract``, as for any answer that cannot be taken."""
    advice = "raise adapterConfig.maxOutputBytes and --max-output-bytes if it may be longer"
    return ContractError(f"{what} has more than {max_bytes:,} bytes (maxOutputBytes); {advice}")


def limits_in_force(limits: Limits) -> str:
    """The limits that may explain an end without any message, as a phrase; "" if there are none."""
    said = {"memoryMb": limits.memory_mb, "cpuSeconds": limits.cpu_seconds}
    held = [f"limits.{name} = {value}" for name, value in said.items() if value is not None]
    return f"{' and '.join(held)} {'was' if len(held) == 1 else 'were'} in force" if held else ""


def _values(limits: Limits) -> dict[str, tuple[int, int]]:
    """The soft and hard limit of each resource, by the name that ``prlimit`` has for it; never above what holds already."""
    if not any((limits.memory_mb, limits.cpu_seconds, limits.open_files)):
        return {}
    import resource

    found: dict[str, tuple[int, int]] = {}
    if limits.memory_mb is not None:  # data, not address space: runtimes reserve far more than they use
        found["data"] = _lowered(resource.RLIMIT_DATA, limits.memory_mb * _MIB)
    if limits.cpu_seconds is not None:  # SIGXCPU at the limit, SIGKILL a second later for those who ignore it
        found["cpu"] = _lowered(resource.RLIMIT_CPU, limits.cpu_seconds, slack=1)
    if limits.open_files is not None:
        found["nofile"] = _lowered(resource.RLIMIT_NOFILE, limits.open_files)
    return found


def _lowered(which: int, value: int, slack: int = 0) -> tuple[int, int]:
    import resource

    _, hard = resource.getrlimit(which)
    ceiling = value + slack if hard == resource.RLIM_INFINITY else min(value + slack, hard)
    return min(value, ceiling), ceiling


_OF_SANDBOX = (("sandboxProcesses", "sandbox_processes", SANDBOX_PROCESSES), ("sandboxMb", "sandbox_mb", SANDBOX_MB))

_PATHS = {"show": "sees", "writable": "writes to"}

_LIMITS = {"memory_mb": "memoryMb", "cpu_seconds": "cpuSeconds", "open_files": "openFiles"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """Limits and a sandbox for all skills.

    A skill's own `adapterConfig` may be stricter and never looser: of two limits the lower one holds, and a sandbox that either
    side asks for is there. `sandbox_network` decides who has the network in it: skills whose `adapterConfig` has
    ``"network": true`` (`declared`), no skill (`none`), or every skill (`all`). So does `sandbox_paths` of the paths that an
    `adapterConfig.sandbox` declares (`show`, `writable`). `sandbox_processes` and `sandbox_mb` replace the
    usual limits of a sandbox, up or down. What is `hidden` (absolute paths) is so in every
    sandbox: where the expected answers are.
    """

    memory_mb: int | None = None
    cpu_seconds: int | None = None
    open_files: int | None = None
    max_output_bytes: int | None = None
    sandbox: SandboxName = "none"
    sandbox_network: SandboxNetwork = "declared"
    sandbox_paths: SandboxPaths = "declared"
    sandbox_processes: int | None = None
    sandbox_mb: int | None = None
    hidden: tuple[str, ...] = ()

    def check(self) -> None:
        """Refuse limits that this machine cannot enforce.

        Raises:
            UsageError: there is no working sandbox, or no way to set limits.
        """
        if self.sandbox == "bwrap":
            from eval_skills.adapters.sandbox.bubblewrap import why_no_sandbox

            if problem := why_no_sandbox():
                raise UsageError(f"--sandbox bwrap: {problem}")
        try:
            Limits(memory_mb=self.memory_mb, cpu_seconds=self.cpu_seconds, open_files=self.open_files)
        except ValueError as error:
            raise UsageError(f"--memory-mb, --cpu-seconds, --open-files: {error}") from None

    def of(self, skill: Skill) -> Skill:
        """The skill with its `adapterConfig` as strict as both sides; what is malformed in it stays so, to be refused later."""
        config = dict(skill.adapter_config)
        self._lower_limits(config)
        if self.max_output_bytes is not None:
            _lower(config, _spelled(config, "maxOutputBytes", "max_output_bytes"), self.max_output_bytes, MAX_OUTPUT_BYTES)
        self._hold_sandbox(config)
        for alias, name, usual in _OF_SANDBOX:
            key, ceiling = _spelled(config, alias, name), getattr(self, name)
            if ceiling is not None or key in config:
                _lower(config, key, usual if ceiling is None else ceiling)
        if self.sandbox_network != "declared":
            config["network"] = self.sandbox_network == "all"
        if _sandbox_type(config) != "none" or skill.adapter_type == "agent":  # whose commands have a sandbox in any case
            self._hide(config)
        return skill if config == skill.adapter_config else skill.model_copy(update={"adapter_config": config})

    def _hold_sandbox(self, config: dict[str, Any]) -> None:
        own = config.get("sandbox")
        if isinstance(own, dict):
            kept = own if self.sandbox_paths == "declared" else {name: own[name] for name in own if name not in _PATHS}
            config["sandbox"] = {**kept, **({"type": self.sandbox} if self.sandbox != "none" else {})}
        elif self.sandbox != "none":
            config["sandbox"] = self.sandbox

    def _hide(self, config: dict[str, Any]) -> None:
        key = _spelled(config, "hiddenPaths", "hidden_paths")
        given = config.get(key, [])
        if self.hidden and isinstance(given, list):
            config[key] = [*given, *self.hidden]

    def _lower_limits(self, config: dict[str, Any]) -> None:
        limits = config.get("limits", {})
        given = {name: value for name in _LIMITS if (value := getattr(self, name)) is not None}
        if given and isinstance(limits, dict):
            config["limits"] = limits = dict(limits)
            for name, value in given.items():
                _lower(limits, _spelled(limits, _LIMITS[name], name), value)


def sandbox_remarks(skills: Iterable[Skill], confinement: Confinement) -> list[str]:
    """What the sandbox does not keep from skills: the network, where they say so themselves, and processes, where we are root."""
    if confinement.sandbox == "none":
        return []
    as_root = "as root, the system does not hold a sandbox to a number of processes (--sandbox-processes); run as another user"
    skills = list(skills)
    return [*_networked(skills, confinement), *_declared_paths(skills, confinement), *([as_root] if os.geteuid() == 0 else [])]


def _networked(skills: Iterable[Skill], confinement: Confinement) -> list[str]:
    if confinement.sandbox_network != "declared":
        return []
    names = [skill.key for skill in skills if skill.adapter_config.get("network") is True]
    means = "their adapterConfig asks for it; --sandbox-network none takes it away"
    return [f"in the sandbox and yet with the network: {', '.join(names)} ({means})"] if names else []


def _declared_paths(skills: Iterable[Skill], confinement: Confinement) -> list[str]:
    if confinement.sandbox_paths != "declared":
        return []
    means = "its adapterConfig asks for it; --sandbox-paths none takes it away"
    return [
        f"in the sandbox {skill.key} also {does} {', '.join(map(str, paths))} ({means})"
        for skill in skills
        for name, does in _PATHS.items()
        if isinstance(own := skill.adapter_config.get("sandbox"), dict) and isinstance(paths := own.get(name), list) and paths
    ]


def _sandbox_type(config: dict[str, Any]) -> Any:
    own = config.get("sandbox", "none")
    return own.get("type", "none") if isinstance(own, dict) else own


def _lower(config: dict[str, Any], key: str, ceiling: int, default: int | None = None) -> None:
    given = config.get(key, default)
    if given is None:
        config[key] = ceiling
    elif isinstance(given, int) and not isinstance(given, bool):
        config[key] = min(given, ceiling)


def _spelled(config: dict[str, Any], alias: str, name: str) -> str:
    return name if name in config else alias
