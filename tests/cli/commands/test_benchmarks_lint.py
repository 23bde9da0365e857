"""`benchmarks lint` as it is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Run = Callable[..., Any]


def benchmark(*tasks: dict[str, Any]) -> dict[str, Any]:
    return {"id": "own", "name": "Own", "version": "1.0.0", "tasks": [{"id": f"t{n}", **task} for n, task in enumerate(tasks)]}


GOOD = benchmark({"inputData": {"q": "two"}, "expectedOutput": {"value": 2}})
BAD = benchmark({"inputData": {"q": "two"}, "expectedOutput": {"type": "regex", "patterns": ["^3$"], "value": "2"}})


def test_an_error_is_exit_code_1_and_says_what_to_do(place: Any, run_here: Run) -> None:
    place.write("bad.json", BAD)
    result = run_here("benchmarks", "lint", "bad.json")
    assert result.code == 1
    assert "impossible-expectation" in result.out
    assert "correct the expected answer" in result.out
    assert "no store: whether tasks tell skills apart was not checked" in result.err


def test_several_are_checked_and_json_counts_them(place: Any, run_here: Run) -> None:
    place.write("good.json", GOOD)
    place.write("bad.json", BAD)
    result = run_here("benchmarks", "lint", "good.json", "bad.json", "coding-easy", "--json")
    assert [each["benchmark"] for each in result.json["benchmarks"]] == ["own@1.0.0", "own@1.0.0", "coding-easy@1.0.0"]
    assert result.json["counts"]["error"] == 1
    finding = result.json["benchmarks"][1]["findings"][0]
    assert finding.keys() == {"rule", "severity", "task", "message", "fix"}
    assert (result.code, finding["rule"], finding["task"]) == (1, "impossible-expectation", "t0")


def test_tasks_without_errors_are_exit_code_0(place: Any, run_here: Run) -> None:
    place.write("good.json", GOOD)
    assert run_here("benchmarks", "lint", "good.json").code == 0


def test_what_cannot_be_read_is_exit_code_2(place: Any, run_here: Run) -> None:
    place.write("broken.json", "{")
    place.write("good.json", GOOD)
    for arguments in (["broken.json"], ["nowhere.json"], ["good.json", "--store", "nowhere"], ["good.json", "--runs", "0"], []):
        result = run_here("benchmarks", "lint", *arguments)
        assert (result.code, result.out) == (2, ""), arguments
        assert result.err.count("\n") == 1, result.err
