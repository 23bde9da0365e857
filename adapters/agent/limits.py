"""When an agent is to be ended: it has used its turns or its money, reported too much, or loaded what was waited for."""

from __future__ import annotations

from eval_skills.adapters.agent.config import AgentConfig
from eval_skills.adapters.agent.transcript import SKILL_LOADED, Transcript
from eval_skills.adapters.sandbox.limits import too_long
from eval_skills.core.errors import ContractError, ItemError, SkillError


class Enough:
    """Whether an agent is to be ended. `reached` stays true once it is; `problem` is the error that this is, None for a load."""

    def __init__(self, config: AgentConfig) -> None:
        self._config = config
        self.reached = False
        self.problem: ItemError | None = None

    def check(self, transcript: Transcript) -> bool:
        """Look at what it did so far."""
        if not self.reached:
            self.problem = self._problem(transcript)
            self.reached = self.problem is not None or self._loaded(transcript)
        return self.reached

    def _loaded(self, transcript: Transcript) -> bool:
        if not (self._config.stop_when_skill_loaded and transcript.skills_loaded):
            return False
        transcript.finish_reason = SKILL_LOADED
        return True

    def _problem(self, transcript: Transcript) -> ItemError | None:
        most, cost = self._config.max_cost_usd, transcript.cost_usd
        if most is not None and cost is not None and cost > most:
            return SkillError(f"the agent has cost ${cost:.4g}, more than adapterConfig.maxCostUsd, ${most:g}; it was ended")
        if most is not None and transcript.unread_cost:
            said = f"the agent reported a cost that cannot be read, {transcript.unread_cost}"
            return ContractError(f"{said}, so adapterConfig.maxCostUsd cannot be held; give costUsd as a number of USD")
        if transcript.steps > self._config.max_steps:
            return too_many_steps(self._config)
        if max(transcript.size, len(transcript.output or "")) > self._config.max_output_bytes:
            return too_long("what the agent reported", self._config.max_output_bytes)
        return None


def too_many_steps(config: AgentConfig) -> SkillError:
    """That an agent has used up its turns."""
    said = f"the agent has not finished within {config.max_steps} turns of its model (adapterConfig.maxSteps)"
    return SkillError(f"{said}; it was ended")
