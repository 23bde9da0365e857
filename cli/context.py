"""What every command knows of its call: the global options, where to print, and the configuration below its own flags."""

from __future__ import annotations

import gc
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

from eval_skills.cli.streams import holds_unicode
from eval_skills.core.errors import UsageError

if TYPE_CHECKING:
    from cyclopts import App
    from rich.console import Console

    from eval_skills.core.config import Config, LayeredConfig
    from eval_skills.core.store import Store

PIPE_WIDTH = 120

GATE_FAILED, USAGE, UNFINISHED, INTERRUPTED, TERMINATED = 1, 2, 3, 130, 143
READER_LEFT = 141
"""Exit codes; the last as a shell has it for other programs: 0 would say that a gate passed which came after what could not be
printed."""


Command = tuple[str, ...]
"""A command and its subcommands: ``("report", "diff")``."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """The global options of one call.

    `typed` are those that the command line named; `configured` are the options of the command that it did not name and the
    configuration did, with the place that says so. `model` makes the model of the configuration: with the group of `command`, or
    of None with the groups of all commands; both come from `cli.app`, which alone knows all commands. `recorded` says
    where Prefect records the runs of the call, once that is known; `flow_run_pages` is the address of their pages in its UI, with
    ``{}`` for the id, where that server stays; `flow_run` is the id of the call's own. `began` is when the call began
    (`time.monotonic`).
    """

    config_path: Path | None = None
    json: bool = False
    color: bool = True
    verbose: bool = False
    typed: frozenset[str] = frozenset()
    configured: Mapping[str, str] = field(default_factory=dict)
    command: Command | None = None
    app: App | None = None
    model: Callable[[Command | None], type[Config]] | None = None
    recorded: str = ""
    flow_run_pages: str = ""
    flow_run: str | None = None
    began: float = field(default_factory=monotonic)

    @property
    def seconds(self) -> float:
        """How long the call has taken by now, from its beginning on."""
        return monotonic() - self.began

    def page_of(self, flow_run: str | None) -> str | None:
        """The address of a flow run's page in Prefect's UI; None where nothing will answer there."""
        return self.flow_run_pages.format(flow_run) if flow_run and self.flow_run_pages else None

    @property
    def flow_run_page(self) -> str | None:
        """The page of the call's own flow run."""
        return self.page_of(self.flow_run)

    def config(self, flags: dict[str, Any]) -> Config:
        """The layered configuration, with the flags that were given (not None) on top."""
        from eval_skills.core.config import Config

        return self._layers(flags, Config).config if self.is_silent else self.layers(flags).config

    @property
    def is_silent(self) -> bool:
        """Whether there is no configuration file and no variable, so that the keys of commands are not needed."""
        from eval_skills.core.config import is_silent

        return is_silent(config_path=self.config_path, environ=os.environ, cwd=Path.cwd(), home=Path.home())

    def layers(self, flags: dict[str, Any]) -> LayeredConfig:
        """The same, with the origin of every value."""
        return self._layers(flags, self.configuration_model())

    def configuration_model(self) -> type[Config]:
        """The model of the configuration: `Config` and the group of the command, or of all commands."""
        assert self.model is not None, "app begins every call with it"
        return self.model(self.command)

    def _layers(self, flags: dict[str, Any], model: type[Config]) -> LayeredConfig:
        from eval_skills.core.config import load_config

        cwd, home = Path.cwd(), Path.home()
        return load_config(flags, config_path=self.config_path, environ=os.environ, cwd=cwd, home=home, model=model)

    def placed(self, message: str) -> str:
        """The message with the place in the configuration for every option that was not typed: there the value can be fixed."""
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
        """Where progress and warnings go: stderr."""
        return self._console(sys.stderr, PIPE_WIDTH)

    def say(self, line: str, *, style: str = "") -> None:
        """Print a line on stdout, as long as it is: a path that was broken in two is not one."""
        self.out().print(printable(line), style=style, markup=False, soft_wrap=True)

    def say_stored(self, store: object, what: str) -> None:
        """Print where the results of a flow are, and the page of its flow run, where that will answer."""
        self.say(f"store   {store}   {what}")
        if (page := self.flow_run_page) is not None:
            self.say(f"prefect {page}")

    def remark(self, line: str, *, style: str = "yellow") -> None:
        """Print a line on stderr, as long as it is."""
        self.err().print(printable(line), style=style, markup=False, soft_wrap=True)

    def _console(self, stream: TextIO, pipe_width: int) -> Console:
        plain: dict[str, Any] = {"color_system": None, "force_terminal": False} if self.plain else {}
        return _console_class()(file=stream, highlight=False, emoji=False, width=None if stream.isatty() else pipe_width, **plain)


@cache
def _console_class() -> type[Console]:
    """rich's console, for a terminal that may go away while a run goes on; rich is imported when something is printed."""
    from rich.console import Console

    class LastingConsole(Console):
        """A console whose reader may leave (``| head``): what is printed after that is lost, and the run is not.

        rich would end the process from whichever thread happened to print.
        """

        def on_broken_pipe(self) -> None:
            self.file = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for as long as the process lives

    return LastingConsole


_invocation: ContextVar[Invocation] = ContextVar("eval_skills_cli_invocation", default=Invocation())  # noqa: B039 - frozen


def current() -> Invocation:
    """The running command's invocation."""
    return _invocation.get()


def begin(invocation: Invocation) -> None:
    """Make `invocation` the one that the command sees."""
    _invocation.set(invocation)


_HARMLESS = frozenset("\u00a0\u2007\u202f\u3000\u200c\u200d")
"""Spaces that keep words together, and what joins or parts letters and emoji: without them other scripts cannot be read."""


def printable(text: str) -> str:
    """The text as one line without what could steer a terminal: a skill's files and answers come from others.

    A line break is ``⏎``, as in reports: what follows it would pass for a line of ours.
    """
    return "".join(map(_printed, text))


def _printed(letter: str) -> str:
    if letter.isprintable() or letter in _HARMLESS:
        return letter
    return "⏎" if letter == "\n" else ascii(letter)[1:-1]


_PLUGINS = "PYDANTIC_DISABLE_PLUGINS"


@contextmanager
def briefly() -> Iterator[None]:
    """For what is imported, and what only reads and soon ends: inside, nobody looks for garbage, and pydantic for no plugins.

    Together that is a quarter of the time in which a command starts: to find plugins, the metadata of every installed package is
    read. Not where the code of others runs, or a process begins: it would be without plugins, too.
    """
    before, collects = os.environ.get(_PLUGINS), gc.isenabled()
    os.environ[_PLUGINS] = "__all__"
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
        if before is None:
            del os.environ[_PLUGINS]
        else:
            os.environ[_PLUGINS] = before


def print_json(document: Any) -> None:
    """The one JSON document of a ``--json`` call."""
    sys.stdout.write(json_text(document, ascii_only=not holds_unicode(sys.stdout)))


def json_text(document: Any, *, ascii_only: bool = False) -> str:
    """`document` as people like to read JSON, with a newline at its end; it may name files whose names are not UTF-8."""
    from eval_skills.core.text import readable_json

    return json.dumps(document, indent=2, allow_nan=False) + "\n" if ascii_only else readable_json(document)


def existing_store(store: str | None) -> Store:
    """The store of the option, else of the configuration, for a command that only reads it.

    Raises:
        UsageError: there is no such folder, or nothing of a store in that object storage, or it cannot be opened.
        RunError: the object storage cannot be reached.
    """
    from eval_skills.core.store import Store

    found = Store(current().config({"store": store}).store)
    if found.mirror is not None and found.mirror.is_empty:
        raise UsageError(f"--store {found.path}: no such store (nothing of one is there); evaluate something first")
    if not found.layout.root.is_dir():
        raise UsageError(
            f"--store {found.path}: no such store (there is no folder {found.layout.root}); evaluate something first"
        )
    found.tables.tell = current().remark
    for remark in found.remarks:
        current().remark(remark)
    return found
