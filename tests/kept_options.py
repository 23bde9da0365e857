"""The options of each command, read once in a process: cyclopts reads them for every call, which takes longer than most calls
that tests make."""

from __future__ import annotations

from copy import copy
from typing import Any

from cyclopts import App, Argument, ArgumentCollection


def keep_options() -> None:
    """Keep what cyclopts reads from a command's signature; each call gets a copy without values."""
    read = App.assemble_argument_collection
    kept: dict[tuple[Any, ...], ArgumentCollection] = {}

    def assembled(app: App, **how: Any) -> ArgumentCollection:
        key = (app.default_command, app.app_stack.default_parameter, *sorted(how.items()))
        if key not in kept:
            kept[key] = read(app, **how)
        return _without_values(kept[key])

    App.assemble_argument_collection = assembled  # type: ignore[assignment, method-assign]


def _without_values(options: ArgumentCollection) -> ArgumentCollection:
    copies = {id(option): copy(option) for option in options}
    for each in copies.values():
        each.tokens = []
        each.children = _replaced(each.children, copies)
    return _replaced(options, copies)


def _replaced(options: ArgumentCollection, copies: dict[int, Argument]) -> ArgumentCollection:
    found = copy(options)
    found[:] = [copies[id(option)] for option in options]
    return found
