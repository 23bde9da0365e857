"""Which runtime runs an agent."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eval_skills.adapters.agent.runtimes.base import AgentRuntime

BUILTIN = "builtin"
"""Our own loop, which is not a program of its own."""

_RUNTIMES = {
    "custom": "eval_skills.adapters.agent.runtimes.custom:Custom",
}
"""Named, not imported: what a runtime needs is loaded when it is used."""


def runtime_names() -> tuple[str, ...]:
    """The entrypoints that an agent may have, sorted."""
    return tuple(sorted((BUILTIN, *_RUNTIMES)))


def runtime(name: str) -> AgentRuntime:
    """The runtime of this name, which is not `BUILTIN`."""
    module, _, made = _RUNTIMES[name].partition(":")
    found: AgentRuntime = getattr(import_module(module), made)()
    return found


def program_runtimes() -> tuple[AgentRuntime, ...]:
    """Those that are programs with a usual name on PATH."""
    return tuple(found for name in sorted(_RUNTIMES) if (found := runtime(name)).program)
