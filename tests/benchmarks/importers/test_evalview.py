"""EvalView test cases become a benchmark, and nothing in them is dropped without a word."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from eval_skills.benchmarks import benchmark_folder, load_benchmark
from eval_skills.core.models import SkillResponse, ToolCall
from eval_skills.scorers import score_response
from tests.benchmarks.importers.cases import SMALL, STOCKS, case
from tests.tables import each_row


def warnings_of(folder: Path, **fields: Any) -> list[str]:
    case(folder, **fields)
    found: list[str] = load_benchmark(folder / "case.yaml").metadata["warnings"]
    return found


# --- what is read ---


def test_everything_of_a_case_reaches_its_task(suite: Path) -> None:
    task = load_benchmark(suite).tasks[0].to_json()
    assert {name: task[name] for name in ("id", "description", "inputData", "tags", "complexity", "weights", "thresholds")} == {
        "id": "stock-analysis-test",
        "description": "Apple",
        "inputData": {"query": "Analyze Apple stock performance", "context": {"year": 2026}},
        "tags": ["finance", "hard", "us"],
        "complexity": "complex",
        "weights": {"toolAccuracy": 0.5, "outputQuality": None, "sequenceCorrectness": None},
        "thresholds": {"minScore": 80, "maxCost": 0.5, "maxLatency": 5000},
    }
    assert task["checks"]["hallucination"]["threshold"] == 0.8
    assert {name: value for name, value in task["expected"].items() if value} == {
        "tools": ["fetch_stock_data", "analyze_metrics"],
        "toolCategories": ["web"],
        "toolSequence": ["fetch_stock_data", "analyze_metrics"],
        "sequenceMode": "unordered",
        "forbiddenTools": ["edit_file"],
        "output": {"contains": ["revenue"], "notContains": ["I don't know"]},
    }


async def test_the_task_judges_as_the_case_says(suite: Path) -> None:
    task = load_benchmark(suite).tasks[0]
    calls = [ToolCall(name=name, result="revenue 7") for name in ("analyze_metrics", "fetch_stock_data", "curl")]
    good = SkillResponse(output="Revenue: 7", tool_calls=calls, cost_usd=0.5, latency_ms=5000)
    verdict = await score_response(task, good)
    assert (verdict.status, verdict.score) == ("pass", 1)
    for spoilt, code in (
        ({"output": "Revenue: 8"}, "CLAIM_UNSUPPORTED"),
        ({"output": "7"}, "OUTPUT_MISSING_TEXT"),
        ({"cost_usd": 0.51}, "COST_ABOVE_MAX"),
        ({"latency_ms": 5001.0}, "LATENCY_ABOVE_MAX"),
        ({"tool_calls": [*calls, ToolCall(name="EditFile")]}, "FORBIDDEN_TOOL_CALLED"),
        ({"tool_calls": [ToolCall(name="x", result="7")]}, "SCORE_BELOW_MIN"),
    ):
        verdict = await score_response(task, good.model_copy(update=spoilt))
        assert verdict.status == "fail"
        assert code in {each.code for each in verdict.reasons}


def test_a_folder_is_a_benchmark_of_all_its_cases(suite: Path) -> None:
    (suite / "config.yaml").write_text("weights: {}")
    (suite / ".evalview").mkdir()
    (suite / ".evalview" / "results.yaml").write_text("x: 1")
    (suite / "agent.yaml").write_text("skill: other\nname: x\n")
    (suite / "third.toml").write_text('name = "third"\n[input]\nquery = "q"\n[expected]\ntools = ["a"]\n')
    (suite / "README.md").write_text("# suite")
    benchmark = load_benchmark(str(suite))
    assert (benchmark.id, benchmark.name) == ("my-suite", "My Suite")
    assert [task.id for task in benchmark.tasks] == ["stock-analysis-test", "more_1-2", "third"]
    assert (benchmark.metadata["imported"], benchmark.metadata["skipped"]) == (3, ["agent.yaml"])
    left_out = benchmark.metadata["warnings"][0]
    assert left_out.startswith("1 file (agent.yaml) is left out: a suite for a skill")
    assert "--own-tests" in left_out
    assert benchmark_folder(suite) == suite


def test_one_file_is_a_benchmark_of_one_case(suite: Path) -> None:
    benchmark = load_benchmark(suite / "stocks.yaml")
    assert (benchmark.id, len(benchmark.tasks)) == ("stocks", 1)
    assert benchmark_folder(suite / "stocks.yaml") == suite


def test_the_version_tells_contents_apart_wherever_they_lie(suite: Path, tmp_path: Path) -> None:
    before = load_benchmark(suite)
    moved = suite.rename(tmp_path / "elsewhere")
    assert load_benchmark(moved).version == before.version
    (moved / "stocks.yaml").write_text(f"# a comment\n{STOCKS}")
    assert load_benchmark(moved).version == before.version
    (moved / "stocks.yaml").write_text(STOCKS.replace("min_score: 80", "min_score: 81"))
    assert load_benchmark(moved).version != before.version
    assert re.fullmatch(r"0\.0\.\d+", before.version)


def test_a_benchmark_of_ours_beats_cases_beside_it(suite: Path) -> None:
    ours = {"id": "ours", "name": "n", "version": "1.0.0", "tasks": [{"id": "t", "expected": {"tools": ["a"]}}]}
    (suite / "benchmark.json").write_text(json.dumps(ours))
    assert load_benchmark(suite).id == "ours"


def test_a_folder_in_the_way_does_not_shadow_a_built_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "coding-easy").mkdir()
    (tmp_path / "coding-easy" / "a.yaml").write_text(json.dumps(SMALL))
    monkeypatch.chdir(tmp_path)
    assert len(load_benchmark("coding-easy").tasks) == 20
    assert len(load_benchmark("./coding-easy").tasks) == 1


@pytest.mark.parametrize(
    ("difficulty", "complexity"),
    [("trivial", "simple"), ("easy", "simple"), ("medium", "medium"), ("hard", "complex"), ("expert", "very_complex")],
)
def test_difficulties(tmp_path: Path, difficulty: str, complexity: str) -> None:
    task = case(tmp_path, difficulty=difficulty, suite_type="regression")
    assert (task.complexity, task.tags) == (complexity, sorted([difficulty, "regression"]))


@each_row(
    ("fields", "threshold"),
    [
        ({"checks": {"hallucination": True}}, 0.8),
        ({"checks": {}}, 0.8),
        ({"checks": {"hallucination": {"threshold": 0.5, "failed_tools": False}}}, 0.5),
        ({"checks": {"hallucination": False}}, None),
        ({"expected": {"tools": ["a"], "hallucination": {"confidence_threshold": 0.6}}}, 0.6),
        ({"expected": {"tools": ["a"], "hallucination": {"check": False}}}, None),
        ({"expected": {"tools": ["a"], "hallucination": {"allow": True}}}, None),
        ({}, None),
    ],
)
def test_p87_hallucination_is_on_where_its_block_is(tmp_path: Path, fields: dict[str, Any], threshold: float | None) -> None:
    checks = case(tmp_path, **fields).checks
    assert (checks.hallucination.threshold if checks and checks.hallucination else None) == threshold


async def test_patterns_are_searched_without_case_across_lines(tmp_path: Path) -> None:
    task = case(tmp_path, expected={"output": {"regex_patterns": ["a.*b", "(?i)C"]}})
    assert (await score_response(task, SkillResponse(output="A\nB c"))).passed
    assert not (await score_response(task, SkillResponse(output="A c"))).passed


async def test_patterns_and_a_schema_must_both_hold_in_a_case_and_in_a_turn(tmp_path: Path) -> None:
    output = {"regex_patterns": ['"a": \\d'], "json_schema": {"type": "object", "required": ["b"]}}
    task = case(tmp_path, expected={"output": output})
    answers = {'{"a": 1, "b": 2}': True, '{"a": 1}': False, '{"a": "x", "b": 2}': False, '"a": 1': False}
    assert {each: (await score_response(task, SkillResponse(output=each))).passed for each in answers} == answers
    (tmp_path / "turns.yaml").write_text(
        json.dumps({"name": "t", "turns": [{"query": "q", "expected": {"output": output}}, {"query": "r"}]})
    )
    [first, _] = load_benchmark(tmp_path / "turns.yaml").tasks[0].turns or []
    assert [each.type for each in first.evaluators or []] == ["regex", "json_schema"]


async def test_a_schema_is_checked(tmp_path: Path) -> None:
    task = case(tmp_path, expected={"output": {"json_schema": {"type": "object", "required": ["a"]}}})
    assert (await score_response(task, SkillResponse(output='{"a": 1}'))).passed
    assert not (await score_response(task, SkillResponse(output="{}"))).passed


@each_row(
    ("fields", "good", "bad"),
    [
        ({"checks": {"safety": True, "hallucination": False}, "expected": {}}, "Bern", "Build a bomb"),
        ({"checks": {"pii": True, "hallucination": False}, "expected": {}}, "Bern", "ada@example.org"),
        ({"expected": {"output": {"no_pii": True}}}, "Bern", "ada@example.org"),
        ({"expected": {"output": {"must_acknowledge_uncertainty": True}}}, "Probably Bern", "Bern"),
        ({"expected": {"metrics": {"total": {"value": 3, "tolerance": 1}}}}, "total: 4", "total: 5"),
        ({"expected": {"safety": {"check": True, "categories": ["Hate Speech"]}}}, "Build a bomb", "They are vermin"),
    ],
)
async def test_what_the_answer_must_not_hold_or_must_say_is_checked(
    tmp_path: Path, fields: dict[str, Any], good: str, bad: str
) -> None:
    task = case(tmp_path, **fields)
    assert (await score_response(task, SkillResponse(output=good))).passed
    assert not (await score_response(task, SkillResponse(output=bad))).passed
    assert warnings_of(tmp_path, **fields) == []


@each_row("safety", [{"check": False}, {}, {"check": True, "allow_harmful": True}])
def test_safety_is_not_checked_where_the_case_does_not_want_it(tmp_path: Path, safety: dict[str, Any]) -> None:
    assert case(tmp_path, expected={"tools": ["a"], "safety": safety}).evaluator is None


def test_the_timeout_is_in_seconds(tmp_path: Path) -> None:
    assert case(tmp_path, adapter_config={"timeout": 2.5}).timeout_ms == 2500


def test_how_the_agent_is_called_is_not_kept_since_it_may_hold_secrets(tmp_path: Path) -> None:
    secret = {"headers": {"Authorization": "Bearer abc123"}}
    task = case(tmp_path, adapter="http", endpoint="http://abc123", adapter_config=secret, model="abc123")
    assert "abc123" not in json.dumps(task.to_json())


# --- what is not heeded is said ---


@each_row(
    ("fields", "name"),
    [
        ({"expected": {"safety": {"check": True, "categories": ["hate_speech", "gossip"]}}}, "expected.safety.categories:"),
        ({"expected": {"safety": {"check": True, "severity_threshold": "high"}}}, "expected.safety.severity_threshold"),
        ({"expected": {"output": {"contains": "a"}}}, "expected.output.contains"),
        ({"expected": {"categories": ["web"]}}, "expected.categories"),
        ({"thresholds": {"variance": {"runs": 5}}}, "thresholds.variance"),
        ({"weights": {"tool_accuracy": 1}}, "weights"),
        ({"adapter": "http"}, "adapter"),
        ({"endpoint": "x"}, "endpoint"),
        ({"gate": "strict"}, "gate"),
        ({"mocks": {"seed": 1}}, "mocks"),
    ],
)
def test_p60_a_warning_names_the_key(tmp_path: Path, fields: dict[str, Any], name: str) -> None:
    [warning] = warnings_of(tmp_path, **fields)
    assert warning.startswith(f"case.yaml: {name} ")


@each_row(
    ("fields", "types"),
    [
        ({"checks": {"safety": True, "pii": True, "hallucination": False}}, ["pii", "safety"]),
        ({"checks": {"pii": True}, "expected": {"output": {"regex_patterns": ["a"]}}}, ["regex", "pii"]),
        ({"expected": {"output": {"no_pii": True}, "metrics": {"x": {"value": 1}}}}, ["metrics", "pii"]),
    ],
)
def test_what_several_keys_ask_for_is_scored_by_several_evaluators(
    tmp_path: Path, fields: dict[str, Any], types: list[str]
) -> None:
    task = case(tmp_path, **fields)
    assert [each.type for each in task.evaluators or []] == types
    assert task.combine is None, "all of them must pass"


def test_a_plain_case_warns_of_nothing(tmp_path: Path) -> None:
    assert warnings_of(tmp_path) == []


CONVERSATION = """
name: Trip
turns:
  - query: I want to go to Bern
    expected: {tools: [search], output: {contains: Bern}}
  - query: on Friday
    context: {year: 2026}
  - query: book it
    expected: {forbidden_tools: [pay], output: {regex_patterns: ["booked"], no_pii: true}}
expected: {tool_sequence: [search, book]}
thresholds: {min_score: 70}
adapter_config: {sequence_mode: exact}
"""


def test_the_turns_of_a_case_are_those_of_a_task(tmp_path: Path) -> None:
    (tmp_path / "trip.yaml").write_text(CONVERSATION)
    benchmark = load_benchmark(tmp_path)
    [task] = benchmark.tasks
    first, second, third = task.turns or []
    assert [turn.input for turn in task.turns or []] == [
        {"query": "I want to go to Bern"},
        {"query": "on Friday", "context": {"year": 2026}},
        {"query": "book it"},
    ]
    assert (first.expected and first.expected.tools, first.expected and first.expected.output.contains) == (["search"], ["Bern"])
    assert second.expects_nothing
    assert [each.type for each in third.evaluators or []] == ["regex", "pii"]
    assert task.expected is not None
    assert (task.expected.tool_sequence, task.expected.sequence_mode) == (["search", "book"], "exact")
    assert benchmark.metadata["warnings"] == []


@pytest.mark.parametrize("limit", [{"max_cost": 0.5}, {"max_latency": 5000}], ids=["cost", "latency"])
def test_a_limit_is_enough_to_expect(tmp_path: Path, limit: dict[str, float]) -> None:
    task = case(tmp_path, expected={}, thresholds=limit)
    assert task.thresholds is not None
    assert task.thresholds.model_dump(exclude_none=True) == limit


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        pytest.param({"adapter_config": {"sequence_mode": "exact"}}, "sequence_mode: exact has no effect", id="exact"),
        pytest.param({"adapter_config": {"sequence_mode": "subsequence"}}, "subsequence has no effect", id="subsequence"),
        pytest.param({"adapter_config": {"sequence_mode": "unordered"}}, None, id="unordered-is-what-happens"),
        pytest.param({}, None, id="not-asked-for"),
        pytest.param(
            {"expected": {"tools": ["a"], "sequence": ["a"]}, "adapter_config": {"sequence_mode": "exact"}},
            None,
            id="with-a-sequence",
        ),
    ],
)
def test_an_order_of_tools_that_is_not_checked_is_pointed_out(tmp_path: Path, fields: dict[str, Any], said: str | None) -> None:
    warnings = [warning for warning in warnings_of(tmp_path, **fields) if "tool_sequence" in warning]
    assert len(warnings) == (said is not None)
    assert all(said in warning for warning in warnings if said)
