"""`query`: SQL over the store, as a table, as JSON, as CSV."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.store.sql import VIEWS
from tests.cli.conftest import Place
from tests.tables import each_row

Run = Callable[..., Any]
FIRST = "20260101T100000Z-0001"
COUNT = "SELECT status, count(*) AS items FROM items GROUP BY 1 ORDER BY 1"


@pytest.fixture(autouse=True)
def one_run(past: Callable[..., str]) -> None:
    past(FIRST, passed=3)


@pytest.mark.slow
def test_p57_a_table_on_the_terminal(run_here: Run) -> None:
    result = run_here("query", COUNT)
    assert (result.code, result.err) == (0, "2 rows\n")
    assert [line.split() for line in result.out.splitlines()] == [["status", "items"], ["fail", "1"], ["pass", "3"]]


@pytest.mark.slow
def test_p62_json_is_an_array_of_objects(run_here: Run) -> None:
    result = run_here("query", COUNT, "--json")
    assert (result.err, result.json) == ("", [{"status": "fail", "items": 1}, {"status": "pass", "items": 3}])


@pytest.mark.slow
def test_csv_has_a_header_line(run_here: Run) -> None:
    assert run_here("query", COUNT, "--csv").out == "status,items\nfail,1\npass,3\n"


VALUES = {
    "null": ("NULL", None, ""),
    "bool": ("true", True, "true"),
    "float": ("1.50::DOUBLE", 1.5, "1.5"),
    "nan": ("'nan'::DOUBLE", None, "nan"),
    "infinity": ("'-inf'::DOUBLE", None, "-inf"),
    "decimal": ("0.1::DECIMAL(3, 1)", 0.1, "0.1"),
    "huge": ("170141183460469231731687303715884105727", 2**127 - 1, str(2**127 - 1)),
    "date": ("DATE '2026-01-31'", "2026-01-31", "2026-01-31"),
    "time": ("TIME '10:00:00'", "10:00:00", "10:00:00"),
    "moment_in_utc": ("min(started_at)", "2026-01-01T10:00:00+00:00", "2026-01-01T10:00:00+00:00"),
    "list": ("[1, 2]", [1, 2], "[1, 2]"),
    "struct": ("{'a': {'b': NULL}}", {"a": {"b": None}}, '{"a": {"b": null}}'),
    "map": ("MAP {'k': 1}", {"k": 1}, '{"k": 1}'),
    "bytes": ("'ab'::BLOB", "6162", "6162"),
    "a_formula_is_no_formula_in_csv": ("'=1+1'", "=1+1", "'=1+1"),
    "a_negative_number_as_text": ("'-5'", "-5", "-5"),
    "a_sum_as_text": ("'-5+1'", "-5+1", "'-5+1"),
    "two_lines": ("'a' || chr(10) || 'b'", "a\nb", "a\nb"),
}
"""By name: an expression, its value in JSON, its cell in CSV."""


@pytest.mark.slow
def test_every_kind_of_value_can_be_printed(run_here: Run) -> None:
    statement = f"SELECT {', '.join(f'{expression} AS {name}' for name, (expression, _, _) in VALUES.items())} FROM items"
    assert run_here("query", statement, "--json").json == [{name: value for name, (_, value, _) in VALUES.items()}]
    assert list(csv.reader(io.StringIO(run_here("query", statement, "--csv").out))) == [
        list(VALUES),
        [cell for _, _, cell in VALUES.values()],
    ]
    assert len(run_here("query", statement).out.splitlines()) == 2


@pytest.mark.slow
def test_p68_csv_is_data_in_a_pipe_and_steers_no_terminal(run_here: Run, place: Place) -> None:
    question = ["query", "SELECT 'a' || chr(27) || '[31m' AS x, ['b' || chr(155)] AS y", "--csv"]
    assert run_here(*question).out == 'x,y\na\x1b[31m,"[""b\x9b""]"\n'
    reader, terminal = os.openpty()
    try:
        with os.fdopen(os.dup(terminal), "wb", buffering=0) as out:
            place.command.start(question, cwd=place.folder, environment=place.environ, out=out, err=out).wait(300)
        shown = os.read(reader, 10_000).decode()
    finally:
        os.close(reader)
        os.close(terminal)
    assert shown.replace("\r\n", "\n") == 'x,y\na\\u001b[31m,"[""b\\u009b""]"\n'


@pytest.mark.slow
def test_a_long_cell_is_cut_on_the_terminal_only(run_here: Run) -> None:
    statement = "SELECT repeat('ab', 500) AS long, 7 AS beside"
    assert max(map(len, run_here("query", statement).out.splitlines())) < 80
    assert run_here("query", statement).out.splitlines()[1].split()[1] == "7"
    assert run_here("query", statement, "--json").json[0]["long"] == "ab" * 500


def test_what_could_steer_a_terminal_is_shown_and_not_done(run_here: Run) -> None:
    assert "\\u001b[31m" in run_here("query", "SELECT chr(27) || '[31m[bold]x' AS red").out


@pytest.mark.slow
def test_a_row_that_is_wider_than_the_terminal_becomes_a_line_per_column(run_here: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    monkeypatch.setattr("eval_skills.cli.context.Invocation.out", lambda self, **_: Console(width=60))
    lines = run_here("query", "SELECT * FROM reports").out.splitlines()
    assert lines[0].split() == ["run_id", FIRST]
    assert any(line.split() == ["completion_rate", "0.75"] for line in lines)


@pytest.mark.slow
def test_two_columns_of_one_name(run_here: Run) -> None:
    twice = "SELECT 1 AS a, 2 AS a"
    assert run_here("query", twice, "--csv").out == "a,a\n1,2\n"
    refused = run_here("query", twice, "--json")
    assert (refused.code, refused.out) == (2, "")
    assert "two columns are named 'a'" in refused.err


@pytest.mark.slow
def test_no_row(run_here: Run) -> None:
    statement = "SELECT run_id, score FROM items WHERE false"
    assert run_here("query", statement, "--json").json == []
    assert run_here("query", statement, "--csv").out == "run_id,score\n"
    assert run_here("query", statement).err == "0 rows\n"


@pytest.mark.slow
@each_row(
    ("arguments", "says"),
    [
        pytest.param(["selec"], "the query failed: Parser Error", id="no-sql"),
        pytest.param(["SELECT nope FROM items"], 'Referenced column "nope" not found', id="unknown-column"),
        pytest.param(
            ["DROP TABLE items"],
            "one SELECT over items, items_all, reports, runs, comparisons, samples, nights, preferences, calibrations, labels, "
            "turns; this is DROP",
            id="no-select",
        ),
        pytest.param(["SELECT 1; SELECT 2"], "this is SELECT, SELECT", id="two-statements"),
        pytest.param(["/* nothing */"], "this is nothing", id="only-a-comment"),
        pytest.param([" "], "this is nothing", id="blank"),
        pytest.param(["SELECT * FROM read_text('/etc/hostname')"], "the query failed", id="other-files"),
        pytest.param(["SELECT 1", "--csv", "--json"], "--csv and --json exclude each other", id="two-formats"),
        pytest.param([], "STATEMENT", id="no-statement"),
    ],
)
def test_p40_a_query_that_cannot_be_answered_is_one_line(place: Any, run_here: Run, arguments: list[str], says: str) -> None:
    before = place.files()
    result = run_here("query", *arguments)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert says in result.err
    assert place.files() == before


def test_the_help_and_the_guide_name_every_view(run_here: Run) -> None:
    said = " ".join(run_here("query", "--help").out.replace("│", " ").split())
    guide = (Path(__file__).parents[3] / "docs/how-to/history-and-trends.md").read_text(encoding="utf-8")
    assert f"The views {', '.join(VIEWS[:-1])} and {VIEWS[-1]} hold" in said
    assert [view for view in VIEWS if f"`{view}`" not in guide] == []
