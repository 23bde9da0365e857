"""What commands that equip an agent with Agent Skills share: the options that name it, and what goes with a run that is there."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from cyclopts import Group, Parameter

from eval_skills.cli.context import current
from eval_skills.cli.requests import typed
from eval_skills.core.config import Config
from eval_skills.core.config.layers import json_or_text
from eval_skills.core.config.options import option_of
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models.base import fields_by_key

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
            UsageError: an option of the agent is not KEY=VALUE, unknown or not valid, or it cannot work with these here.
        """
        from eval_skills.engine.skill_effect.arms import Agent

        named = {
            "apiKeyEnv": self.api_key_env,
            "baseUrl": self.base_url,
            "allowUnsandboxed": self.allow_unsandboxed or None,
        }
        given = {key: value for key, value in named.items() if value is not None}
        own = given | ({} if self.model is None else {"model": self.model})
        config = _settings(self.agent_option or [], own, decided=more) | given | more
        agent = Agent(runtime=self.agent or "builtin", model=self.model, config=config)
        _refuse_unusable(agent)
        return agent


_OF_SHOWING = ("store", "output_dir", "format")
"""Options that say something to ``--of-run``."""


def refuse_beside_a_run(of_run: str | None, flags: dict[str, Any], own: Mapping[str, Any], asked: AgentOptions) -> None:
    """A stored run has its agent and `own`, the command's options that say what it is made of, and what is shown again calls
    nothing: what says otherwise would be ignored. Beside no run nothing is refused.

    Raises:
        UsageError: such an option was typed; it is named.
    """
    by = "--of-run" if of_run is not None else "--resume" if flags.get("resume") else None
    if by is None:
        return
    given = {**own, **{option_of(each.name): getattr(asked, each.name) for each in fields(asked)}}
    if of_run is not None:
        given |= {option_of(name): value for name, value in typed(flags).items() if name not in _OF_SHOWING}
    if unfit := next((name for name, value in given.items() if value), None):
        what = "shows a stored run as it is" if of_run is not None else "continues a run with what it began with"
        raise UsageError(f"{by} {what}; leave out {unfit}")


def config_of_showing(flags: dict[str, Any], formats: Collection[str], what: str) -> Config:
    """The configuration of a call that only shows a stored run; `formats` are those that `what` it shows can be written in.

    Raises:
        UsageError: another format was typed.
    """
    if (unfit := next((name for name in typed(flags).get("format", ()) if name not in formats), None)) is not None:
        raise UsageError(f"--format: {what} not written as {unfit!r}; valid are {', '.join(formats)}")
    return current().config({name: flags[name] for name in _OF_SHOWING if name in flags})


_OWN_OPTIONS = {
    "model": "--model",
    "apiKeyEnv": "--api-key-env",
    "baseUrl": "--base-url",
    "allowUnsandboxed": "--allow-unsandboxed",
}
"""The keys of an agent's `adapterConfig` that have an option of their own."""

_OF_THE_COMMAND = ("skills", "fixtures", "watchedSkills")
"""What is installed, and the files of the tasks."""

_KEY = re.compile(r"adapterConfig\.(\w+)(: true)?")


def _settings(texts: Sequence[str], own: Mapping[str, Any], *, decided: Mapping[str, Any]) -> dict[str, Any]:
    """What the texts ``KEY=VALUE`` set, by the keys' own spelling; `own` is what has an option of its own and was given by that,
    `decided` is what the command sets itself.

    Raises:
        UsageError: a text has another form, a key is not one of an agent's, is not to be set here, or is set twice.
    """
    found: dict[str, Any] = {}
    for text in texts:
        typed, equals, value = text.partition("=")
        if not equals or not typed.strip():
            raise UsageError(f"--agent-option: give KEY=VALUE, as maxSteps=20; got {text!r}")
        key = _known_key(typed.strip())
        if key in _OF_THE_COMMAND or key in decided:
            raise UsageError(f"--agent-option {key}: this command decides it; leave it out")
        if key in own:
            raise UsageError(f"--agent-option {key}: {_OWN_OPTIONS[key]} is given, too; leave one of them out")
        if key in found:
            raise UsageError(f"--agent-option {key}: it is given twice; leave one out")
        found[key] = value if _is_text(key) else json_or_text(value)  # a word that is not JSON stands for itself: sandbox=bwrap
    return found


def _known_key(typed: str) -> str:
    """The key as an `adapterConfig` spells it."""
    from eval_skills.adapters.agent.config import AgentConfig
    from eval_skills.core.text import nearest

    aliases = {name: field.alias for name, field in AgentConfig.model_fields.items()}
    if (key := aliases.get(typed) or typed) in (known := fields_by_key(AgentConfig)):
        return key
    valid = sorted(key for key in known if key not in _OF_THE_COMMAND)
    raise UsageError(f"--agent-option {typed}: agents have no such option{nearest(typed, valid)}; valid are {', '.join(valid)}")


def _is_text(key: str) -> bool:
    """Whether the value is a text, which is taken as it is typed; any other is JSON."""
    from eval_skills.adapters.agent.config import AgentConfig

    return _means_text(fields_by_key(AgentConfig)[key].annotation)


def _means_text(annotation: Any) -> bool:
    """``str``, with constraints or None beside it."""
    parts = [part for part in get_args(annotation) if part is not type(None)]
    return annotation is str or (get_origin(annotation) in (Annotated, Union, UnionType) and _means_text(parts[0]))


def _refuse_unusable(agent: Agent) -> None:
    """Refuse what the agent's adapter would refuse, with the options by their names.

    Raises:
        UsageError: a value is not valid, or the agent cannot work with these options here.
    """
    from eval_skills.adapters.agent.adapter import refuse_unusable
    from eval_skills.adapters.agent.config import AgentConfig
    from eval_skills.core.documents.loading import validate

    try:
        config = validate(AgentConfig, {**agent.config, **({} if agent.model is None else {"model": agent.model})})
    except InputError as error:
        raise UsageError(f"{_option(error.path)}: {error.message}") from None
    try:  # options of the run decide about the network, too
        refuse_unusable(agent.runtime, config.model_copy(update={"network": True}))
    except InputError as error:
        key = error.path.partition(".")[2]
        raise UsageError(f"{_option(key) if key else f'--agent {agent.runtime}'}: {_as_options(error.message)}") from None


def _option(path: str) -> str:
    key = re.split(r"[.\[]", path)[0]
    return _OWN_OPTIONS.get(key, f"--agent-option {path}")


def _as_options(message: str) -> str:
    """A message about an `adapterConfig`, with the options in place of its keys."""

    def option(found: re.Match[str]) -> str:
        return _OWN_OPTIONS.get(found[1]) or f"--agent-option {found[1]}={'true' if found[2] else '…'}"

    return _KEY.sub(option, message)
