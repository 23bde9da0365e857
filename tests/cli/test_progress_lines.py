"""What takes a while is seen at once on a terminal, and told once elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from io import StringIO
from threading import Event

import pytest
from rich.console import Console

from eval_skills.cli import running
from eval_skills.cli.context import Invocation, begin, current


@contextmanager
def stderr(console: Console) -> Iterator[None]:
    class Shown(Invocation):
        def err(self) -> Console:
            return console

    before = current()
    begin(Shown())
    try:
        yield
    finally:
        begin(replace(before))


class Watched(StringIO):
    """A stream that says when the line was written."""

    def __init__(self) -> None:
        super().__init__()
        self.has_line = Event()

    def write(self, text: str) -> int:
        if "planning …" in text:
            self.has_line.set()
        return super().write(text)


@pytest.mark.parametrize("showing", [running.shown_while, running.announced_while])
def test_a_terminal_shows_it_at_once_and_only_meanwhile(showing: Callable[[str], AbstractContextManager[None]]) -> None:
    file = Watched()
    with stderr(Console(file=file, force_terminal=True, width=80)):
        with showing("planning …"):
            assert file.has_line.wait(60)
        assert file.getvalue().endswith("\x1b[2K")  # the line is cleared


def test_a_pipe_is_told_when_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "SLOW_S", 0.0)
    file = Watched()
    with stderr(Console(file=file)), running.announced_while("planning …"):
        assert file.has_line.wait(60)


def test_a_pipe_is_told_nothing_of_what_is_quick_or_only_shown() -> None:
    file = StringIO()
    with stderr(Console(file=file)):
        with running.shown_while("starting …"):
            pass
        with running.announced_while("planning …"):
            pass
    assert file.getvalue() == ""
