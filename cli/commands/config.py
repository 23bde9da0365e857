"""``eval-skills config``: what is configured, where it comes from, and setting it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from eval_skills.cli.context import current, print_json
from eval_skills.core.config import set_in_file
from eval_skills.core.config.keys import resolve
from eval_skills.core.config.layers import HOME_FILE, PROJECT_FILE
from eval_skills.core.errors import ConfigError, UsageError
from eval_skills.core.redaction import Redaction

if TYPE_CHECKING:
    from eval_skills.cli.configuration import Winner
    from eval_skills.core.config import LayeredConfig

config_app = App(name="config", help="Show and set the configuration. Keys are dotted: llm.model.")


@config_app.command(name="list")
def list_keys(
    *,
    show_origin: Annotated[
        bool, Parameter(help="Say where each value comes from: a variable, a file, or default", show_default=False)
    ] = False,
) -> int:
    """List every key with the value in force.

    Of the keys of single commands (find.limit), those that are set. Values of secrets are never shown.

    Example: eval-skills config list --show-origin
    """

    layers = current().layers({})
    values = {key: _redaction(layers).data(value) for key, value in layers.flat().items()}
    origins = {key: layers.origin(key) for key in values} if show_origin else {}
    if current().json:
        print_json({key: {"value": values[key], "origin": origins[key]} for key in values} if show_origin else values)
    else:
        _print_keys(values, origins)
    return 0


@config_app.command
def get(key: Annotated[str, Parameter(help="A key, such as llm.model; or a group of keys, such as llm")], /) -> int:
    """Print the value in force of one key.

    Example: eval-skills config get llm.model
    """

    layers = current().layers({})
    value = _redaction(layers).data(layers.get(key))
    if current().json:
        print_json({"key": key, "value": value, "origin": layers.origin(key)})
    else:
        current().say(_spelled(value))
    return 0


@config_app.command(name="set")
def set_key(
    key: Annotated[str, Parameter(help="A key, such as llm.model")],
    value: Annotated[str, Parameter(help="Its value; lists are JSON or divided by commas, null empties an optional key")],
    /,
    *,
    project: Annotated[
        bool, Parameter(help="Write ./eval-skills.config.yaml, not ~/.eval-skills/config.yaml", show_default=False)
    ] = False,
) -> int:
    """Set one key in ~/.eval-skills/config.yaml, in the project's file, or in the file of -c.

    The value is checked first. Comments, order and other keys of the file stay. A layer that hides the value is named,
    and so is the key of a command (eval.runs) that wins over it.

    Example: eval-skills config set timeoutMs 5000 --project
    """

    _check_formats(key, value)
    redaction = _redaction(current().layers({}))  # a configuration that cannot be read is refused before one is written
    path = _target(project=project)
    try:
        written = redaction.data(set_in_file(path, key, value, current().configuration_model()))
    except ConfigError as error:
        raise ConfigError(redaction.text(str(error))) from None
    _show_set(key, written, path)
    return 0


def _check_formats(key: str, value: str) -> None:
    """Raise a UsageError for an unknown report format: the configuration itself takes any text."""
    import yaml

    from eval_skills.reporting.writing import check_formats

    if key == "format":
        found = yaml.safe_load(value) if value.lstrip().startswith("[") else value.split(",")
        check_formats([str(name).strip() for name in found] if isinstance(found, list) else [])


def _target(*, project: bool) -> Path:
    given = current().config_path
    if given is not None and project:
        raise UsageError("--config and --project name two files to write to; give one of them")
    return given or (Path(PROJECT_FILE) if project else Path.home() / HOME_FILE)


def _show_set(key: str, value: Any, path: Path) -> None:
    layers = current().layers({})
    origin = layers.origin(key)
    if current().json:
        print_json({"key": key, "value": value, "file": str(path), "origin": origin})
    else:
        current().say(f"{key} = {_spelled(value)}  in {path}")
    if str(path.absolute()) not in (str(Path(part).absolute()) for part in origin.split(", ")):
        current().remark(f"{key} stays {_spelled(_redaction(layers).data(layers.get(key)))} here: {origin} wins over {path}")
    if winners := _winners(key, layers):
        commands = ", ".join(" ".join(command) for winner in winners for command in winner.commands)
        values = [_spelled(_redaction(layers).data(winner.setting.value)) for winner in winners]
        keys = [f"{'.'.join(each.leaf)} = {value} in {each.setting.place}" for each, value in zip(winners, values, strict=True)]
        current().remark(f"{key} has no effect on {commands}: {', '.join(keys)} {'win' if len(keys) > 1 else 'wins'} there")


def _winners(key: str, layers: LayeredConfig) -> list[Winner]:
    from eval_skills.cli.configuration import winners_over

    app = current().app
    assert app is not None, "every call begins with it"
    return winners_over(resolve(tuple(key.split(".")), current().configuration_model())[0], app, layers)


def _redaction(layers: LayeredConfig) -> Redaction:
    """What must not be printed: the values of the variables that the configuration names as secrets."""
    return Redaction.of_variables([*layers.config.secrets, layers.config.llm.api_key_env])


def _print_keys(values: dict[str, Any], origins: dict[str, str]) -> None:
    key_width, texts = max(map(len, values)), {key: _spelled(value) for key, value in values.items()}
    value_width = min(max(map(len, texts.values())), 40)
    for key, text in texts.items():
        current().say(f"{key:<{key_width}}  {text:<{value_width}}  {origins.get(key, '')}".rstrip())


def _spelled(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
