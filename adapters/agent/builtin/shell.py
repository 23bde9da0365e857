"""Shell commands of an agent: in bubblewrap, where only its workspace and home can be written, without network and key."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from eval_skills.adapters.agent.config import AgentConfig
from eval_skills.adapters.agent.program import confined_launch
from eval_skills.adapters.agent.workspace import Workspace
from eval_skills.adapters.call import shield_cleanup
from eval_skills.adapters.process import guard
from eval_skills.adapters.process.launch import Launch, spawn
from eval_skills.adapters.process.streams import OutputTail
from eval_skills.core.errors import InfraError

DEFAULT_S, MOST_S = 120, 3600
"""How long a command may take where the agent does not say, and where it does."""

MAX_OUTPUT_BYTES = 30_000
"""How much of the end of a command's output the agent sees."""


class Shell:
    """Runs commands in a workspace, each in a shell of its own; `sandbox` False: without one, as the configuration allows."""

    def __init__(self, workspace: Workspace, config: AgentConfig, hidden: Sequence[Path], *, sandbox: bool) -> None:
        self._workspace, self._config, self._hidden, self._sandbox = workspace, config, hidden, sandbox

    async def run(self, command: str, timeout_s: float = DEFAULT_S) -> str:
        """What the command printed, with its exit code where that is not 0. What it left running is ended."""
        output = OutputTail(MAX_OUTPUT_BYTES)
        try:
            child = await spawn(await asyncio.to_thread(self._launch, command), output.add)
        except InfraError as error:
            return f"the command could not be started: {error}"
        try:
            await asyncio.wait([child.ended], timeout=timeout_s)
            late = not child.exited.done()
        finally:
            await shield_cleanup(child.stop())
        said = [output.text(), child.stderr.text()]
        if late:
            said.append(f"[stopped after {timeout_s:g} s]")
        elif child.exited.result():
            said.append(f"[{child.how_it_ended()}]")
        return "\n".join(text.rstrip("\n") for text in said if text.strip()) or "(no output)"

    def _launch(self, command: str) -> Launch:
        words = ("bash", "-c", f"exec 2>&1\n{command}")
        launch = confined_launch(words, self._workspace, self._config, {}, hidden=self._hidden, sandbox=self._sandbox)
        env = {name: value for name, value in launch.env.items() if name != self._config.api_key_env}
        return replace(launch, argv=guard.guarded(launch.argv), env=env)
