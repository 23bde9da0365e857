"""Whoever reads the display may leave; the run goes on."""

from __future__ import annotations

import io
import os

from eval_skills.cli.console import LastingConsole


class Abandoned(io.StringIO):
    """A pipe whose reader has gone."""

    def write(self, _: str) -> int:
        raise BrokenPipeError


def test_a_reader_that_left_does_not_end_the_process() -> None:
    console = LastingConsole(file=Abandoned())
    console.print("nobody reads this")
    console.print("nor this")
    with console.file as file:
        assert getattr(file, "name", None) == os.devnull
