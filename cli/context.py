"""What every command knows of its call: the global options, where to print, and the configuration below its own flags.

The store that a command only reads: one that is not there is a mistake, and no empty history.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from cyclopts import App
    from rich.console import Console

    from eval_skills.core.config import Config, LayeredConfig
    from eval_skills.core.store import Store

PIPE_WIDTH = 120


@dataclass(frozen=True, slots=True)
class Session:
    """The global options of one call.

    `typed` are those that the command line named; `configured` are the options of the command that it did not name and the
    configuration did, with the place that says so. `app` is the command line itself and `model` makes the model of its
    configuration, with a group for every command; both come from `main`, which alone knows all commands.
    """

    config_path: Path | None = None
    json: bool = False
    color: bool = True
    verbose: bool = False
    typed: frozenset[str] = frozenset()
    configured: Mapping[str, str] = field(default_factory=dict)
    app: App | None = None
    model: Callable[[], type[Config]] | None = None

    def config(self, flags: dict[str, Any]) -> Config:
        """The layered configuration, with the flags that were given (not None) on top."""
        from eval_skills.core.config import Config

        return self._layers(flags, Config).config if self.is_silent else self.layers(flags).config

    @property
    def is_silent(self) -> bool:
        """Whether no layer says anything: then nobody need learn the keys of all commands, which takes longer than most calls."""
        from eval_skills.core.config import is_silent

        return is_silent(config_path=self.config_path, environ=os.environ, cwd=Path.cwd(), home=Path.home())

    def layers(self, flags: dict[str, Any]) -> LayeredConfig:
        """The same, with the origin of every value."""
        return self._layers(flags, self.configuration_model())

    def configuration_model(self) -> type[Config]:
        """The model of the configuration: `Config` and the groups of all commands."""
        assert self.model is not None, "main begins every call with it"
        return self.model()

    def _layers(self, flags: dict[str, Any], model: type[Config]) -> LayeredConfig:
        from eval_skills.core.config import load_config

        cwd, home = Path.cwd(), Path.home()
        return load_config(flags, config_path=self.config_path, environ=os.environ, cwd=cwd, home=home, model=model)

    def placed(self, message: str) -> str:
        """The message with the place in the configuration for every option that nobody typed: there the mistake can be mended."""
        for option, place in self.configured.items():
            message = place.join(re.split(rf"(?<![\w-]){re.escape(option)}(?![\w-])", message))
        return message

    @property
    def plain(self) -> bool:
        """Whether escape sequences are unwelcome, here or by the convention of ``NO_COLOR``."""
        return not self.color or bool(os.environ.get("NO_COLOR"))

    def out(self, *, pipe_width: int = PIPE_WIDTH) -> Console:
        """Where results go: stdout. A pipe has no width of its own: `pipe_width` is what a table may fill there."""
        return self._console(sys.stdout, pipe_width)

    def err(self) -> Console:
        """Where progress and remarks go: stderr."""
        return self._console(sys.stderr, PIPE_WIDTH)

    def say(self, line: str, *, style: str = "") -> None:
        """Print a line on stdout, as long as it is: a path that was broken in two is none."""
        self.out().print(printable(line), style=style, markup=False, soft_wrap=True)

    def remark(self, line: str, *, style: str = "yellow") -> None:
        """Print a line on stderr, as long as it is."""
        self.err().print(printable(line), style=style, markup=False, soft_wrap=True)

    def _console(self, stream: TextIO, pipe_width: int) -> Console:
        from eval_skills.cli.console import LastingConsole

        plain: dict[str, Any] = {"color_system": None, "force_terminal": False} if self.plain else {}
        return LastingConsole(file=stream, highlight=False, width=None if stream.isatty() else pipe_width, **plain)


_session: ContextVar[Session] = ContextVar("eval_skills_cli_session", default=Session())  # noqa: B039 - frozen


def current() -> Session:
    """The session of the running command."""
    return _session.get()


def begin(session: Session) -> None:
    """Make `session` the one that the command sees."""
    _session.set(session)


def printable(text: str) -> str:
    """The text as one line without what could steer a terminal: a skill's files and answers are anybody's.

    A line break is ``⏎``, as in reports: what follows it would pass for a line of ours.
    """
    return "".join(letter if letter.isprintable() else "⏎" if letter == "\n" else ascii(letter)[1:-1] for letter in text)


def existing_store(store: str | None) -> Store:
    """The store of the option, else of the configuration.

    Raises:
        UsageError: there is no such folder. What lies behind a URL is not asked here.
    """
    from eval_skills.core.errors import UsageError
    from eval_skills.core.store import Store

    found = Store(current().config({"store": store}).store)
    if found.tables.is_local and not found.layout.root.is_dir():
        raise UsageError(
            f"--store {found.path}: no such store (there is no folder {found.layout.root}); evaluate something first"
        )
    return found
