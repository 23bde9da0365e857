"""`benchmarks generate` as it is called, and what the other commands make of drafts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import copy_skill
from tests.scripted_model import Says, ScriptedModel, failure

Run = Callable[..., Any]
CALCULATOR = Path(__file__).parents[3] / "examples" / "skills" / "calculator"


@pytest.fixture(autouse=True)
def skill(place: Any) -> None:
    copy_skill(CALCULATOR, place.folder / "calculator")


def generate(run_here: Run, *arguments: str, skill: str = "calculator") -> Any:
    return run_here("benchmarks", "generate", "--skill", skill, "-o", "d.json", *arguments)


def test_drafts_of_a_skill_are_written_with_what_to_do_next(place: Any, run_here: Run) -> None:
    result = generate(run_here, "--count", "12")
    assert (result.code, "wrote     d.json: 12 tasks, none of them reviewed" in result.out) == (0, True)
    assert "eval-skills benchmarks review d.json" in result.out
    assert len(json.loads((place.folder / "d.json").read_text("utf-8"))["tasks"]) == 12


def test_json_says_the_same(run_here: Run) -> None:
    result = generate(run_here, "--count", "12", "--json")
    assert result.json.keys() == {"file", "id", "tasks", "withoutExpectation", "remarks", "model"}
    assert (result.json["tasks"], result.json["withoutExpectation"], result.json["model"]) == (12, 4, None)


@pytest.mark.slow
def test_drafts_are_shown_and_refused_by_eval_until_they_are_reviewed(run_here: Run) -> None:
    generate(run_here, "--count", "12")
    assert run_here("benchmarks", "show", "d.json").code == 0
    refused = run_here("eval", "--skills", "calculator", "--benchmark", "d.json")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "4 of 12 tasks have no expectation yet; say what is right: eval-skills benchmarks review" in refused.err
    assert run_here("benchmarks", "lint", "d.json").code == 1


def test_an_existing_file_is_kept_without_force(place: Any, run_here: Run) -> None:
    place.write("d.json", "mine")
    refused = generate(run_here)
    assert (refused.code, (place.folder / "d.json").read_text()) == (2, "mine")
    assert "--force to overwrite it" in refused.err
    assert generate(run_here, "--force").code == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(["--skill", "calculator", "-o", "d.yaml"], "ends in .json", id="yaml"),
        pytest.param(["-o", "d.json"], "--skill", id="no-skill"),
        pytest.param(["--skill", "calculator", "--openapi", "x.yaml", "-o", "d.json"], "--openapi", id="both"),
        pytest.param(["--skill", "nowhere", "-o", "d.json"], "nowhere", id="no-such-skill"),
        pytest.param(["--skill", "calculator", "-o", "d.json", "--count", "0"], "--count is 0", id="count"),
        pytest.param(["--skill", "calculator", "-o", "d.json", "--count", "many"], "many", id="no-number"),
        pytest.param(["--skill", "calculator", "-o", "d.json", "--from", "air"], "air", id="source"),
        pytest.param(["--skill", "calculator", "-o", "d.json", "--from", "store"], "there is no store", id="no-store"),
        pytest.param(["--skill", "calculator", "-o", "d.json", "--from", "model"], "llm.model", id="no-model"),
        pytest.param(["--skill", "calculator", "-o", "d.json", "--operation", "x"], "--openapi", id="operation"),
        pytest.param(["--skill", "calculator", "-o", " "], "-o is blank", id="blank"),
        pytest.param(["--skill", "calculator"], "requires an argument", id="no-output"),
    ],
)
def test_what_makes_no_sense_is_one_line_and_writes_nothing(place: Any, run_here: Run, arguments: list[str], says: str) -> None:
    before = place.files()
    result = run_here("benchmarks", "generate", *arguments)
    assert (result.code, says in result.err, result.err.count("\n")) == (2, True, 1), result.err
    assert place.files() == before


def test_a_named_model_thinks_up_inputs_and_its_cost_is_said(place: Any, run_here: Run, model: ScriptedModel) -> None:
    place.write("eval-skills.config.yaml", f"llm: {{apiBase: '{model.url}'}}\n")
    model.otherwise = Says({"inputs": [{"about": "a sum", "input": '{"expression": "1+1"}'}]})
    result = generate(run_here, "--model", "openai/scripted", "--count", "1", "--reference", "calculator", "--json")
    assert result.json["model"]["requests"] == 1
    [task] = json.loads((place.folder / "d.json").read_text("utf-8"))["tasks"]
    assert (task["description"], task["inputData"]) == ("a sum", {"expression": "1+1"})
    assert task["expectedOutput"] == {"type": "exact_match", "value": {"result": 2}}
    assert task["metadata"]["generated"] == {
        "by": "model",
        "model": "openai/scripted",
        "seed": 0,
        "reference": "calculator@1.0.0",
    }


@pytest.mark.slow
def test_a_model_that_cannot_be_asked_is_exit_code_3_and_writes_nothing(place: Any, run_here: Run, model: ScriptedModel) -> None:
    place.write("eval-skills.config.yaml", f"llm: {{apiBase: '{model.url}'}}\n")
    model.otherwise = failure(401, "who are you")
    result = generate(run_here, "--model", "openai/scripted")
    assert (result.code, result.err.count("\n")) == (3, 1)
    assert "nothing was written" in result.err
    assert "d.json" not in place.files()
