"""Suites of EvalView on the command line: what refuses them, what is only said, and who judges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]
PLAN = ("eval", "--skills", "skills", "--benchmark", "suite", "--dry-run")
CASE = "name: {}\ninput: {{query: q}}\nexpected: {{tools: [x]}}\nthresholds: {{min_score: 70}}\n"


@pytest.fixture(autouse=True)
def suite(place: Any) -> None:
    place.write("suite/a.yaml", CASE.format("Größe — a"))
    place.write("suite/sub/b.yaml", CASE.format("b"))


@pytest.mark.slow
def test_bad_files_are_all_named_and_skipped_where_that_is_said(place: Any, run_here: Run) -> None:
    place.write("suite/c.yaml", "name: c\n")
    place.write("suite/d.yaml", "name: [\n")
    refused = run_here(*PLAN)
    assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert "2 files cannot be used: suite/c.yaml:1: " in refused.err
    assert "suite/d.yaml: not valid YAML" in refused.err
    assert "--skip-unreadable evaluates the other 2 cases" in refused.err
    planned = run_here(*PLAN, "--skip-unreadable", "--json")
    assert (planned.code, planned.json["items"]) == (0, 2)
    assert planned.json["remarks"][0].startswith("2 files cannot be used and are left out: c.yaml:1: ")


def test_without_a_judge_it_is_said_once(run_here: Run) -> None:
    [remark] = run_here(*PLAN, "--json").json["remarks"]
    assert remark.startswith("no model judges the output, for none is named")
    assert remark.endswith("(2 cases (a.yaml, sub/b.yaml))")


@pytest.mark.slow
def test_a_case_that_only_a_judge_could_score_is_refused_without_one(place: Any, run_here: Run) -> None:
    place.write("suite/sub/b.yaml", "name: b\ninput: {query: q}\nthresholds: {min_score: 70}\n")
    refused = run_here(*PLAN)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "suite/sub/b.yaml:3: thresholds.min_score: nothing of the answer is scored" in refused.err
    judged = run_here(*PLAN, "--judge-model", "openai/m", "--json")
    assert (judged.code, judged.json["remarks"]) == (0, [])


def test_the_scorer_alone_asks_for_a_model(run_here: Run) -> None:
    refused = run_here(*PLAN, "--evaluator", "llm_judge")
    assert refused.code == 2
    assert "task 'groesse-a' is judged by a model: no judging model is named; name one with --judge-model" in refused.err
