"""A terminal that may go away while a run goes on."""

from __future__ import annotations

import os

from rich.console import Console


class LastingConsole(Console):
    """A console whose reader may leave (``| head``): what is printed after that is lost, and the run is not.

    rich would end the process from whichever thread happened to print.
    """

    def on_broken_pipe(self) -> None:
        """Print into nothing from now on."""
        self.file = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
