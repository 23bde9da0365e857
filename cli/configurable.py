"""What the configuration can say of a command: a key for each of its options, read off the command's own signature."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from cyclopts import Token

if TYPE_CHECKING:
    from cyclopts import App
    from cyclopts.argument import Argument, ArgumentCollection

Command = tuple[str, ...]

UNCONFIGURED: dict[Command, str] = {
    ("completion", "SHELL"): "a shell's start must not depend on the folder that it starts in, nor fail on a wrong file there",
    ("config", "get", "KEY"): "the key that is asked for is the call itself",
    ("config", "set", "KEY"): "the key that is set is the call itself",
    ("config", "set", "VALUE"): "the value that is set is the call itself",
}
"""The arguments that no configuration can give, each with the reason."""


class Mark(Enum):
    """What an option's annotation says about its key: ``Annotated[str | None, Mark.SHARED, Parameter(...)]``."""

    SHARED = "the key at the top level holds for it, too"
    PATH = "the text is a path"
    ID_OR_PATH = "the text is a path where it has a slash or an ending such as .json"


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
        return [self.leaf, *([(self.key,)] if self.has(Mark.SHARED) else []), *elsewhere]

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


def commands_of(app: App, above: Command = ()) -> Iterator[tuple[Command, App]]:
    """Every command of the app that does something, in the order of the help."""
    for name in app:
        if not name.startswith("-"):
            command, inner = (*above, name), app[name]
            if inner.default_command is not None:
                yield command, inner
            yield from commands_of(inner, command)


def tokens_of(value: Any, source: str) -> list[Token]:
    """A value of the configuration as if it had been typed."""
    parts = value if isinstance(value, list) else [value]
    return [Token(value=_typed(part), source=source, index=place) for place, part in enumerate(parts)]


def _typed(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
