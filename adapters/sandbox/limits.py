"""The limits and the sandbox that the caller sets for all skills; a skill itself may only be stricter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from eval_skills.adapters.config import MAX_OUTPUT_BYTES, Limits
from eval_skills.core.config.limits import SandboxName, SandboxNetwork
from eval_skills.core.errors import UsageError
from eval_skills.core.models import Skill

_LIMITS = {"memory_mb": "memoryMb", "cpu_seconds": "cpuSeconds", "open_files": "openFiles"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """Limits and a sandbox for all skills.

    A skill's own `adapterConfig` may be stricter and never looser: of two limits the lower one holds, and a sandbox that either
    side asks for is there. `sandbox_network` decides who has the network in it: skills whose `adapterConfig` has
    ``"network": true`` (`declared`), no skill (`none`), or every skill (`all`). What is `hidden` (absolute paths) is so in every
    sandbox: where the expected answers are.
    """

    memory_mb: int | None = None
    cpu_seconds: int | None = None
    open_files: int | None = None
    max_output_bytes: int | None = None
    sandbox: SandboxName = "none"
    sandbox_network: SandboxNetwork = "declared"
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
        if self.sandbox != "none":
            config["sandbox"] = self.sandbox
        if self.sandbox_network != "declared":
            config["network"] = self.sandbox_network == "all"
        if config.get("sandbox", "none") != "none":
            self._hide(config)
        return skill if config == skill.adapter_config else skill.model_copy(update={"adapter_config": config})

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


def networked(skills: Iterable[Skill], confinement: Confinement) -> list[str]:
    """A remark on the skills that have the network inside their sandbox because they say so themselves."""
    if confinement.sandbox == "none" or confinement.sandbox_network != "declared":
        return []
    names = [skill.key for skill in skills if skill.adapter_config.get("network") is True]
    means = "their adapterConfig asks for it; --sandbox-network none takes it away"
    return [f"in the sandbox and yet with the network: {', '.join(names)} ({means})"] if names else []


def _lower(config: dict[str, Any], key: str, ceiling: int, default: int | None = None) -> None:
    given = config.get(key, default)
    if given is None:
        config[key] = ceiling
    elif isinstance(given, int) and not isinstance(given, bool):
        config[key] = min(given, ceiling)


def _spelled(config: dict[str, Any], alias: str, name: str) -> str:
    return name if name in config else alias
