"""`benchmarks import` and `--tasks` with what other programs write: what is said, written and refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.tables import each_row

Run = Callable[..., Any]
FAQ = "question,answer\n2+2?,4\nCapital of France?,Paris\nWhy?,\n"
MAP = ("--map", "input.q=question", "expected=answer")


@pytest.fixture(autouse=True)
def faq(place: Any) -> None:
    place.write("faq.csv", FAQ)


def test_what_was_read_imported_and_skipped_is_said_and_the_benchmark_is_written(place: Any, run_here: Run) -> None:
    result = run_here("benchmarks", "import", "table", "faq.csv", *MAP, "--output", "out", "--licence", "CC0-1.0")
    assert result.code == 0, result.err
    assert "read 3, imported 2, skipped 1" in result.out
    assert "skipped 1: nothing is expected of the answer (the cells are empty) (faq.csv:4)" in result.out
    assert "licence CC0-1.0" in result.out
    assert [task["inputData"] for task in json.loads((place.folder / "out/benchmark.json").read_text())["tasks"]] == [
        {"q": "2+2?"}, {"q": "Capital of France?"},
    ]  # fmt: skip
    shown = run_here("benchmarks", "show", "out", "--json").json
    assert (shown["id"], len(shown["tasks"])) == ("faq", 2)


def test_a_check_says_the_same_and_writes_nothing(place: Any, run_here: Run) -> None:
    before = place.files()
    result = run_here("benchmarks", "import", "table", "faq.csv", *MAP, "--check", "--output", "out", "--json")
    said = result.json
    assert (said["kind"], said["read"], said["imported"], said["licence"], said["written"]) == ("table", 3, 2, None, [])
    assert [skip["count"] for skip in said["skipped"]] == [1]
    assert place.files() == before


@pytest.mark.slow
@each_row(
    ("arguments", "message"),
    [
        (("table", "faq.csv", *MAP), "--output is required"),
        (("tabel", "faq.csv", "--check"), "unknown kind 'tabel' (did you mean 'table'?); known are auto, "),
        (("auto", "faq.csv", "--check"), "faq.csv:2: question: 'question' is not a key of a task"),
        (("auto", "missing.csv", "--check"), "missing.csv: no such file"),
        (("table", "faq.csv", *MAP, "--check", "--id", "No Id"), "--id: id"),
        (("table", "faq.csv", *MAP, "--output", "faq.csv"), "faq.csv is a file; a folder of this name is needed"),
        (("table", "faq.csv", *MAP, "--output", ""), "--output is blank"),
        (
            ("langsmith", "dataset:faq", "--check"),
            "LANGSMITH_API_KEY is not set; set it to a key of LangSmith, or export the data",
        ),
        (("langsmith", "dataset:", "--check"), "name the data set: dataset:NAME"),
        (
            ("auto", "dataset:my faq", "--check"),
            "fetch it once with eval-skills benchmarks import langsmith 'dataset:my faq' --output DIR",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line_and_nothing_is_written(
    place: Any, run_here: Run, arguments: tuple[str, ...], message: str
) -> None:
    before = place.files()
    result = run_here("benchmarks", "import", *arguments)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert message in result.err
    assert place.files() == before


def test_without_its_package_a_data_set_of_langsmith_is_refused_in_one_line(
    run_here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANGSMITH_API_KEY", "k")
    monkeypatch.setitem(sys.modules, "langsmith", None)
    result = run_here("benchmarks", "import", "langsmith", "dataset:faq", "--check")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert "pip install 'eval-skills[langsmith]'" in result.err


def test_tasks_reads_a_table_with_a_mapping(run_here: Run) -> None:
    result = run_here("eval", "--skills", "skills/calculator", "--tasks", "faq.csv", *MAP, "--dry-run", "--json")
    assert result.code == 0, result.err
    assert (result.json["tasks"], result.json["options"]["map"]) == (2, ["input.q=question", "expected=answer"])


def test_a_mapping_without_tasks_is_refused(run_here: Run) -> None:
    result = run_here("eval", "--skills", "skills/calculator", *MAP, "--dry-run")
    assert result.code == 2
    assert "--map names the columns of a file of tasks; name the file with --tasks" in result.err
