"""The step between parsing and calling: an option that was not typed gets what the configuration says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eval_skills.cli.configurable import Option, options_of, tokens_of
from eval_skills.cli.session import begin, current
from eval_skills.core.errors import ConfigError

if TYPE_CHECKING:
    from cyclopts import App
    from cyclopts.argument import ArgumentCollection

    from eval_skills.core.config import LayeredConfig

GLOBAL = {"json": "--json", "color": "--no-color", "verbose": "--verbose"}
"""The keys of the global options."""


REPORTING = {("doctor",)}
"""Commands that say themselves what is wrong with the configuration, and go on without it."""


def configured(_: App, command: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Complete the arguments of `command` and the global options; the session remembers which, and from where.

    Raises:
        ConfigError: a layer of the configuration holds an unknown key or a wrong value.
    """
    options = options_of(command, arguments)
    if not command or (not options and command[0] == "completion") or current().is_silent:
        return
    try:
        layers = current().layers({})
    except ConfigError:
        if command in REPORTING:
            return
        raise
    origins = {option.name: where for option in options if (where := _complete(option, layers))}
    values, places = _global_options(layers)
    begin(replace(current(), configured=origins | places, **values))


def _complete(option: Option, layers: LayeredConfig) -> str | None:
    """Where the option's value came from; None: it was typed, or nobody says anything."""
    found = None if option.argument.has_tokens else layers.said(*option.leaves)
    if found is None or found[1].value is None:
        return None
    for token in tokens_of(found[1].value, found[1].place):
        option.argument.append(token)
    return f"{found[1].place}: {'.'.join(found[0])}"


def _global_options(layers: LayeredConfig) -> tuple[dict[str, Any], dict[str, str]]:
    found = {key: layers.said((key,)) for key in GLOBAL if key not in current().typed}
    said = {key: setting for key, each in found.items() if each for setting in [each[1]]}
    places = {GLOBAL[key]: f"{setting.place}: {key}" for key, setting in said.items()}
    return {key: setting.value for key, setting in said.items()}, places
