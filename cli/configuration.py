"""The configuration of single commands: a group for each, with a key for each of its options: ``find: {limit: 10}``.

The keys are read from the command's own signature. Between parsing and calling, an option that was not typed gets its value
from them, or from the key of the same name at the top level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from cyclopts import CycloptsError, Token
from pydantic import AfterValidator, Field, create_model

from eval_skills.cli.context import Command, begin, current
from eval_skills.core.config import ID_OR_PATH, PATH, Config, WrittenPath
from eval_skills.core.config.keys import is_optional
from eval_skills.core.errors import ConfigError
from eval_skills.core.models import Model
from eval_skills.core.models.base import Text, fields_by_key

if TYPE_CHECKING:
    from cyclopts import App
    from cyclopts.argument import Argument, ArgumentCollection

    from eval_skills.core.config import LayeredConfig
    from eval_skills.core.config.layers import Setting

_ANNOTATED: Any = Annotated
_LIST: Any = list
_PLAIN: dict[Any, Any] = {bool: bool, int: int, float: float, Path: WrittenPath}


def configuration_model(app: App, running: Command | None = None) -> type[Config]:
    """`Config`, the group of the `running` command as its signature stands, and the names of all others.

    What stands in a group that is only named is not read: nothing is imported for it. None: the groups of all commands.
    """
    return create_model("Configuration", __base__=Config, **_groups(app, (), running))


def _groups(app: App, above: Command, running: Command | None) -> dict[str, Any]:
    # `store` is a command and, before that, the key of where the store is: the key keeps its meaning
    commands = {name: (*above, name) for name in app if not name.startswith("-") and (above or name not in Config.model_fields)}
    asked = {name for name, command in commands.items() if running is None or running[: len(command)] == command}
    return {
        _field_name(name): _group(app[name], command, running) if name in asked else (Any, Field(default=None, alias=name))
        for name, command in commands.items()
    }


def _group(app: App, command: Command, running: Command | None) -> Any:
    fields = _groups(app, command, running)
    if app.default_command is not None:
        for option in options_of(command, app.assemble_argument_collection()):
            described = Field(default=None, alias=option.key, description=option.argument.parameter.help)
            fields[_field_name(option.key)] = (_type(option), described)
    group = create_model(command[-1], __base__=Model, **fields)
    return group, Field(default_factory=group, alias=command[-1])


def _field_name(key: str) -> str:
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key).replace("-", "_")
    return f"{snake}_" if hasattr(Model, snake) else snake


def _type(option: Option) -> Any:
    """The type of the option's key: that of the key at the top level if it is shared, else what the signature says.

    Null says nothing. A value that the command line's own reader would refuse is refused here.
    """
    if option.is_shared:
        field = _TOP_LEVEL[option.key]
        return _ANNOTATED[(field.annotation, *field.metadata)] | None if field.metadata else field.annotation | None
    return _ANNOTATED[_written(_bare(option.argument.hint), option) | None, AfterValidator(_check(option))]


def _bare(hint: Any) -> Any:
    return next(part for part in get_args(hint) if part is not type(None)) if is_optional(hint) else hint


def _written(hint: Any, option: Option) -> Any:
    if get_origin(hint) in (list, tuple):
        return _LIST[_written(get_args(hint)[0], option)]
    if str(get_origin(hint)) == "typing.Literal":
        return hint
    mark = PATH if option.has(Mark.PATH) else ID_OR_PATH if option.has(Mark.ID_OR_PATH) else None
    return _PLAIN.get(hint) or (_ANNOTATED[Text, mark] if mark else Text)


def _check(option: Option) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if value is not None:
            argument = copy(option.argument)
            argument.tokens = tokens_of(value, "")
            try:
                argument.convert_and_validate()
            except CycloptsError as error:
                raise ValueError(error.msg or " ".join(str(error).split())) from None
        return value

    return check


GLOBAL = {"json": "--json", "color": "--no-color", "verbose": "--verbose"}
"""The keys of the global options."""

REPORTING = {("doctor",)}
"""Commands that say themselves what is wrong with the configuration, and continue without it."""

CHECKING = frozenset({"config", "doctor", "init"})
"""Commands that are about the configuration: they read the groups of all commands."""


def configured(_: App, command: Command, arguments: ArgumentCollection) -> None:
    """Complete the arguments of `command` and the global options; the invocation remembers which, and from where.

    Raises:
        ConfigError: a layer of the configuration holds an unknown key or a wrong value.
    """
    options = options_of(command, arguments)
    if not command or (not options and command[0] == "completion") or current().is_silent:
        return
    begin(replace(current(), command=None if command[0] in CHECKING else command))
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
    """Where the option's value came from; None: it was typed, or no layer sets it."""
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


_TOP_LEVEL: dict[str, Any] = fields_by_key(Config)

UNCONFIGURED: dict[Command, str] = {
    ("completion", "SHELL"): "a shell's start must not depend on the folder that it starts in, nor fail on a wrong file there",
    ("config", "get", "KEY"): "the key that is asked for is the call itself",
    ("config", "set", "KEY"): "the key that is set is the call itself",
    ("config", "set", "VALUE"): "the value that is set is the call itself",
    ("scorers", "NAME"): "the scorer that is shown is the call itself",
    ("store", "verify", "--repair"): "a file must not decide that something is put aside or removed",
    ("store", "verify", "--store"): "the key `store` at the top level says it",
}
"""The arguments that no configuration can give, each with the reason."""


class Mark(Enum):
    """What an option's annotation says about its key: ``Annotated[str | None, Mark.PATH, Parameter(...)]``."""

    PATH = "the text is a path"
    ID_OR_PATH = "the text is a path where it has a slash or an ending such as .json"


@dataclass(frozen=True, slots=True)
class Own:
    """In an option's annotation: the key of the same name at the top level does not hold for it, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class KeyOf:
    """In an option's annotation: this key of another group holds for it, too: ``KeyOf(("llm", "model"))``."""

    leaf: Command


@dataclass(frozen=True, slots=True)
class Option:
    """An option or argument of a command."""

    command: Command
    argument: Argument

    @property
    def name(self) -> str:
        """As people type it: ``--min-effect``; of an argument, the name in the help: ``STATEMENT``."""
        return next((name for name in self.argument.names if name.startswith("--")), self.argument.names[0])

    @property
    def key(self) -> str:
        """``minEffect``; times are in ms, and the key of ``--timeout`` says so."""
        first, *rest = self.name.lstrip("-").lower().replace("_", "-").split("-")
        return {"timeout": "timeoutMs"}.get(first if not rest else "", first + "".join(word.capitalize() for word in rest))

    @property
    def leaf(self) -> Command:
        """The key of this command's own: ``("report", "diff", "minEffect")``."""
        return (*self.command, self.key)

    @property
    def leaves(self) -> list[Command]:
        """Every key that the option takes its value from; in one file the first of them wins."""
        elsewhere = [each.leaf for each in self._marks if isinstance(each, KeyOf)]
        return [self.leaf, *([(self.key,)] if self.is_shared else []), *elsewhere]

    @property
    def is_shared(self) -> bool:
        """Whether the key at the top level holds for it, too."""
        return self.key in _TOP_LEVEL and self.own is None

    @property
    def own(self) -> Own | None:
        """Why the key of this name at the top level does not hold for it; None: it does, or there is none."""
        return next((mark for mark in self._marks if isinstance(mark, Own)), None)

    def has(self, mark: Mark) -> bool:
        """Whether the annotation carries this mark."""
        return mark in self._marks

    @property
    def _marks(self) -> tuple[Any, ...]:
        return tuple(getattr(self.argument.field_info.annotation, "__metadata__", ()))


def options_of(command: Command, arguments: ArgumentCollection) -> list[Option]:
    """The options among a command's arguments that the configuration can give."""
    options = [Option(command, each) for each in arguments if each.parse and each.names[0] != "*"]
    return [option for option in options if (*command, option.name) not in UNCONFIGURED]


@dataclass(frozen=True, slots=True)
class Winner:
    """A key that gives options of these commands their value, and what it says."""

    leaf: Command
    setting: Setting
    commands: list[Command]


def winners_over(leaf: Command, app: App, layers: LayeredConfig) -> list[Winner]:
    """The other keys from which options take their value although `leaf` names one for them, too."""
    winners: dict[Command, Winner] = {}
    for command, inner in _commands_of(app, ()):
        for option in options_of(command, inner.assemble_argument_collection()):
            said = layers.said(*option.leaves) if leaf in option.leaves else None
            if said is not None and said[0] != leaf and said[1].value is not None:
                winners.setdefault(said[0], Winner(*said, [])).commands.append(command)
    return list(winners.values())


def _commands_of(app: App, above: Command) -> Iterator[tuple[Command, App]]:
    for name in app:
        if not name.startswith("-"):
            if app[name].default_command is not None:
                yield (*above, name), app[name]
            yield from _commands_of(app[name], (*above, name))


def tokens_of(value: Any, source: str) -> list[Token]:
    """A value of the configuration as if it had been typed."""
    parts = value if isinstance(value, list) else [value]
    return [Token(value=_typed(part), source=source, index=place) for place, part in enumerate(parts)]


def _typed(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
