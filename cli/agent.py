"""The options that name an agent, for the commands that equip one with Agent Skills."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from eval_skills.core.errors import UsageError

if TYPE_CHECKING:
    from eval_skills.engine.skill_effect.arms import Agent

AGENT = Group("The agent", sort_key=2)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class AgentOptions:
    """The agent that is asked."""

    agent: Annotated[
        str | None,
        Parameter(group=AGENT, help="Agent: builtin opencode codex gemini claude-code custom [default: builtin]"),
    ] = None
    model: Annotated[str | None, Parameter(group=AGENT, help="Model that the agent is to use, in its own words")] = None
    api_key_env: Annotated[
        str | None,
        Parameter(group=AGENT, help="Environment variable with the model's key: the only one that the agent is given"),
    ] = None
    base_url: Annotated[
        str | None, Parameter(group=AGENT, help="Address of the model's API, where it is not the provider's own")
    ] = None
    agent_option: Annotated[
        list[str] | None,
        Parameter(group=AGENT, consume_multiple=1, help="More of its adapterConfig, as KEY=VALUE: maxSteps=20 sandbox=bwrap"),
    ] = None
    allow_unsandboxed: Annotated[
        bool,
        Parameter(group=AGENT, help="Let builtin run commands where bubblewrap is missing", show_default=False),
    ] = False

    def chosen(self, **more: Any) -> Agent:
        """The agent that they describe; `more` is added to its `adapterConfig`.

        Raises:
            UsageError: an option of the agent is not KEY=VALUE.
        """
        from eval_skills.engine.skill_effect.arms import Agent

        named = {
            "apiKeyEnv": self.api_key_env,
            "baseUrl": self.base_url,
            "allowUnsandboxed": self.allow_unsandboxed or None,
        }
        config = dict(_setting(each) for each in self.agent_option or [])
        config |= {key: value for key, value in named.items() if value is not None} | more
        return Agent(runtime=self.agent or "builtin", model=self.model, config=config)


def _setting(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"--agent-option: give KEY=VALUE, as maxSteps=20; got {text!r}")
    try:
        return key.strip(), json.loads(value)
    except ValueError:
        return key.strip(), value
