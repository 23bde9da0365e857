"""Who judges an EvalView case: a model where one is named; without one it is said once, and what would be unscored is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import eval_skills as es
from eval_skills.benchmarks import load_benchmark
from eval_skills.core.errors import InputError
from eval_skills.core.models import Benchmark, SkillResponse, ToolCall
from eval_skills.scorers import ScoringSettings, score_response
from tests.scripted_model import ScriptedModel, verdict
from tests.tables import each_row

NAMED: dict[str, Any] = {"llm": {"model": "openai/scripted"}}
BY_EVALUATOR: dict[str, Any] = {"default_evaluator": "llm_judge"}
NOT_NAMED: dict[str, Any] = {}


def suite_of(folder: Path, *expected: dict[str, Any], min_score: float | None = 70) -> Path:
    thresholds = {} if min_score is None else {"thresholds": {"min_score": min_score}}
    for number, each in enumerate(expected, start=1):
        case = {"name": f"case {number}", "input": {"query": "q"}, "expected": each, **thresholds}
        (folder / f"{number}.yaml").write_text(json.dumps(case))
    return folder


def evaluators(benchmark: Benchmark) -> list[str | None]:
    return [task.evaluator_type for task in benchmark.tasks]


@each_row("settings", [NAMED, BY_EVALUATOR])
def test_a_named_model_judges_cases_with_min_score_and_no_other_evaluator(tmp_path: Path, settings: dict[str, Any]) -> None:
    suite = suite_of(tmp_path, {}, {"tools": ["a"]}, {"output": {"contains": ["x"]}}, {"output": {"regex_patterns": ["x"]}})
    benchmark = load_benchmark(suite, settings=settings)
    assert evaluators(benchmark) == ["llm_judge", "llm_judge", "llm_judge", "regex"]
    options = benchmark.tasks[0].evaluator.options if benchmark.tasks[0].evaluator else {}
    assert len(options["criteria"]) == 4
    assert all(task.weights is None for task in benchmark.tasks)  # the default ones: 0.3, 0.5 and 0.2
    assert benchmark.metadata["warnings"] == []


@pytest.mark.slow
async def test_the_models_verdict_weighs_half_beside_tools_and_their_order(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, {"tools": ["a", "b"], "tool_sequence": ["a"]}, min_score=69)
    with ScriptedModel() as model:
        model.otherwise = verdict(0.7)
        settings = ScoringSettings.of({"llm": {"model": "openai/scripted", "api_base": model.url}, "no_judge_cache": True})
        task = load_benchmark(suite, settings=settings).tasks[0]
        found = await score_response(task, SkillResponse(output="x", tool_calls=[ToolCall(name="a")]), settings)
        asked = model.asked[0].prompt
    assert found.score == pytest.approx(0.3 * 0.5 + 0.5 * 0.7 + 0.2 * 1)
    assert found.passed
    assert "1. It answers the question." in asked


def test_without_a_model_one_remark_says_what_is_not_judged(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, *({"tools": ["a"]} for _ in range(5)), {"output": {"json_schema": {"type": "object"}}})
    benchmark = load_benchmark(suite, settings=NOT_NAMED)
    assert evaluators(benchmark) == [None] * 5 + ["json_schema"]
    [remark] = benchmark.metadata["warnings"]
    assert remark.startswith("no model judges the output, for none is named (--judge-model PROVIDER/MODEL or llm.model)")
    assert remark.endswith("(5 cases (1.yaml, 2.yaml, 3.yaml, …))")


def test_from_python_the_remark_says_how_a_model_is_named_there(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, {"output": {"contains": ["x"]}})
    [remark] = es.evaluate({"echo": lambda query: "x"}, suite).remarks
    assert 'for none is named (llm={"model": "PROVIDER/MODEL"}): what else' in remark


def test_without_a_model_a_case_with_nothing_else_is_refused_in_its_own_words(tmp_path: Path) -> None:
    suite_of(tmp_path, {})
    with pytest.raises(InputError) as caught:
        load_benchmark(tmp_path / "1.yaml", settings=NOT_NAMED)
    said = str(caught.value)
    assert said.startswith(f"{tmp_path / '1.yaml'}:1: thresholds.min_score: nothing of the answer is scored")
    for remedy in ("--judge-model PROVIDER/MODEL", "llm.model", "expected.tools", "expected.output.contains"):
        assert remedy in said
    assert "minScore" not in said
    assert "evaluator" not in said


def test_read_for_no_run_a_case_that_only_a_model_could_judge_is_fine(tmp_path: Path) -> None:
    assert evaluators(load_benchmark(suite_of(tmp_path, {}, {"tools": ["a"]}))) == ["llm_judge", None]


def test_without_min_score_nobody_judges(tmp_path: Path) -> None:
    benchmark = load_benchmark(suite_of(tmp_path, {"tools": ["a"]}, min_score=None), settings=NAMED)
    assert (evaluators(benchmark), benchmark.metadata["warnings"]) == ([None], [])


@each_row("settings", [NAMED, NOT_NAMED])
def test_criteria_of_a_case_are_judged_by_a_model(tmp_path: Path, settings: dict[str, Any]) -> None:
    benchmark = load_benchmark(suite_of(tmp_path, {"output": {"criteria": "It rhymes."}}, min_score=None), settings=settings)
    assert benchmark.tasks[0].to_json()["evaluator"] == {"type": "llm_judge", "criteria": ["It rhymes."]}


BOTH: dict[str, Any] = {"output": {"criteria": "It rhymes.", "regex_patterns": ["x"], "no_pii": True}}


def test_criteria_are_judged_beside_what_else_is_checked_and_all_must_hold(tmp_path: Path) -> None:
    task = load_benchmark(suite_of(tmp_path, BOTH, min_score=None), settings=NAMED).tasks[0].to_json()
    assert task["evaluators"] == [
        {"type": "regex", "patterns": ["(?s)x"], "caseSensitive": False},
        {"type": "pii"},
        {"type": "llm_judge", "criteria": ["It rhymes."]},
    ]
    assert "combine" not in task


def test_criteria_of_a_turn_are_judged(tmp_path: Path) -> None:
    turns = [{"query": "q", "expected": {"output": {"criteria": "It rhymes."}}}, {"query": "r", "expected": BOTH}]
    (tmp_path / "turns.yaml").write_text(json.dumps({"name": "t", "turns": turns}))
    first, second = load_benchmark(tmp_path, settings=NAMED).tasks[0].turns or []
    assert [first.evaluator and first.evaluator.type] == ["llm_judge"]
    assert [each.type for each in second.evaluators or []] == ["regex", "pii", "llm_judge"]


@each_row(
    ("answer", "quality", "passed"),
    [
        ("x", 0.8, True),
        ("x", 0.5, False),  # its checks hold, and do not lift what the judge says
        ("y", 1.0, False),
        ("x ada@example.org", 1.0, False),
    ],
)
async def test_with_min_score_the_judge_gives_the_score_and_the_checks_must_hold(
    tmp_path: Path, answer: str, quality: float, passed: bool
) -> None:
    suite = suite_of(tmp_path, BOTH)
    with ScriptedModel() as model:
        model.otherwise = verdict(quality)
        settings = ScoringSettings.of({"llm": {"model": "openai/scripted", "api_base": model.url}, "no_judge_cache": True})
        found = await score_response(load_benchmark(suite, settings=settings).tasks[0], SkillResponse(output=answer), settings)
    assert found.passed is passed, found.reasons
    if answer == "x":
        assert found.score == pytest.approx(quality)


async def test_with_min_score_and_no_judge_all_checks_must_hold(tmp_path: Path) -> None:
    output = {"regex_patterns": ["1"], "json_schema": {"type": "array"}}
    task = load_benchmark(suite_of(tmp_path, {"output": output}, min_score=40), settings=NOT_NAMED).tasks[0]
    assert (await score_response(task, SkillResponse(output="[1]"))).passed
    assert not (await score_response(task, SkillResponse(output="[2]"))).passed
