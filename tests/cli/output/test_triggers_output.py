"""What `triggers` prints on a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from eval_skills.cli.context import PIPE_WIDTH, Invocation, begin, current
from eval_skills.cli.output.triggers import show_triggers
from tests.core.test_triggers import triggers

NEIGHBOUR = "a-rather-long-name-of-a-neighbour-as-people-like-them"


@pytest.fixture
def screen() -> Iterator[StringIO]:
    """What a terminal of 80 columns shows of stdout."""
    file = StringIO()

    class Shown(Invocation):
        def out(self, *, pipe_width: int = PIPE_WIDTH) -> Console:
            return Console(file=file, width=80, color_system=None, highlight=False)

    before = current()
    begin(Shown())
    yield file
    begin(replace(before))


def test_long_names_and_queries_are_folded_and_no_figure_is_cut(screen: StringIO) -> None:
    found = triggers((True, "--"))
    long = found.queries[0].model_copy(update={"query": "long query " * 9, "others": {NEIGHBOUR: 2}})
    show_triggers(found.model_copy(update={"queries": [long], "neighbours": [NEIGHBOUR]}), [], None, store="s")
    _, _, table = screen.getvalue().partition("did not do as they should: 1 of 1\n")
    header, first, *_ = table.splitlines()
    assert header.split() == ["query", "should", "loaded", "95", "%", "interval", "others", "loaded"]
    assert "load    0 of 2  0.0 to 65.8 %" in first
    assert NEIGHBOUR in "".join(line[56:].strip() for line in table.splitlines())
    assert "unknown" not in screen.getvalue()
    assert max(map(len, table.splitlines())) <= 80


def test_a_query_without_an_observed_run_is_named(screen: StringIO) -> None:
    show_triggers(triggers((True, "LL"), (False, "xx")), [], None, store="s")
    assert "unknown: 1 of 2 queries, none of whose runs was observed\n  query 1\n" in screen.getvalue()
