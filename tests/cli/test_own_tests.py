"""--own-tests on the command line: what was typed beats what is configured, and both at once are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

TESTS = [{"id": "sum", "inputData": {"expression": "1+1"}, "expectedOutput": {"value": 2}}]


@pytest.fixture(autouse=True)
def tests(place: Any) -> None:
    place.write("skills/calculator/tests/basic.eval.json", TESTS)
    place.write("tasks.json", [TESTS[0], {**TESTS[0], "id": "again"}])


@pytest.mark.parametrize("command", [["eval", "--skills", "skills"], ["run"]], ids=["eval", "run"])
def test_a_dry_run_plans_each_skill_s_own_tests(run_here: Any, command: list[str]) -> None:
    planned = run_here(*command, "--own-tests", "--dry-run", "--json").json
    assert (planned["benchmark"], planned["items"], planned["options"]["ownTests"]) == ("own-tests@0.0.0", 1, True)


@pytest.mark.slow
def test_what_is_typed_beats_what_is_configured(place: Any, run_here: Any) -> None:
    place.write("eval-skills.config.yaml", json.dumps({"benchmark": "coding-easy", "eval": {"tasks": "tasks.json"}}))
    assert run_here("eval", "--skills", "skills", "--own-tests", "--dry-run", "--json").json["items"] == 1
    place.write("eval-skills.config.yaml", json.dumps({"eval": {"ownTests": True}}))
    assert run_here("eval", "--skills", "skills", "--tasks", "tasks.json", "--dry-run", "--json").json["items"] == 2


@pytest.mark.parametrize("other", [["--benchmark", "coding-easy"], ["--tasks", "tasks.json"], ["--traces", "x.jsonl"]])
def test_own_tests_and_others_are_refused(run_here: Any, other: list[str]) -> None:
    result = run_here("eval", "--own-tests", *other, *([] if "--traces" in other else ["--skills", "skills"]))
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert f"--own-tests asks every skill its own tests, and {other[0]} names others" in result.err
