"""An EvalView test case that cannot be used is refused with its file, its line and the nearest key."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from eval_skills.benchmarks import load_benchmark
from eval_skills.core.errors import InputError
from tests.benchmarks.importers.cases import STOCKS, case
from tests.tables import each_row


def refused(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        load_benchmark(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("before", "after", "line", "message"),
    [
        ("min_score", "min_scor", 18, "thresholds: unknown key 'min_scor' (did you mean 'min_score'?)"),
        ("  tools:", "  tool:", 8, "expected: unknown key 'tool' (did you mean 'tools'?)"),
        ("difficulty: hard", "dificulty: hard", 28, "unknown key 'dificulty' (did you mean 'difficulty'?)"),
        ("sequence_mode", "sequenceMode", 26, "adapter_config: unknown key 'sequenceMode' (did you mean 'sequence_mode'?)"),
        ("unordered", "any", 26, "adapter_config.sequence_mode: input should be"),
        ("difficulty: hard", "difficulty: huge", 28, "difficulty: input should be"),
        ("min_score: 80", "min_score: 101", 18, "thresholds.min_score: input should be less than or equal to 100"),
        ("max_latency: 5000", "max_latency: .nan", None, ".nan (line 20) is not JSON"),
        ("- analyze_metrics", "- 7", 10, "expected.tools[1]: give text"),
        ("[web]", "[wob]", 11, "expected.toolCategories[0]: unknown category 'wob' (did you mean 'web'?)"),
        ("[edit_file]", "[Fetch-Stock-Data]", 7, "is expected and forbidden"),
        ("name: Stock", 'name: "\\t" #', 1, "name: "),
        ("query: Analyze", "question: Analyze", 4, "input: unknown key 'question'"),
        ("  hallucination: true", '  hallucination: "true"', 24, "checks.hallucination: "),
        ("tool_accuracy: 0.5", "tool_accuracy: 5", 22, "weights.tool_accuracy: "),
        ("tool_accuracy: 0.5", "tool_acuracy: 0.5", 22, "weights: unknown key 'tool_acuracy' (did you mean 'tool_accuracy'?)"),
        ("max_latency: 5000", "weights: {}", 21, "weights: given here and in thresholds.weights"),
        ("difficulty: hard", "name: again", None, "given twice (line 28)"),
        ("  tools:", "  tools: [", None, "not valid YAML at line"),
    ],
)
def test_p60_refusals_name_file_line_and_nearest_key(
    suite: Path, before: str, after: str, line: int | None, message: str
) -> None:
    file = suite / "stocks.yaml"
    text = STOCKS.replace(before, after, 1)
    if "weights: {}" in after:
        text = text.replace("weights: {}", "weights: {tool_accuracy: 1}")
    file.write_text(text)
    said = refused(suite)
    assert said.startswith(f"{file}:{line}: " if line else f"{file}: ")
    assert message in said
    assert "\n" not in said


@each_row(
    ("fields", "message"),
    [
        ({"turns": [{"query": "a"}]}, "turns: give at least 2 items"),
        ({"turns": [{"query": "other"}, {"query": "b"}]}, "they differ; leave input out"),
        ({"turns": [{"query": "a", "expcted": {}}, {"query": "b"}]}, "turns[0]: unknown key 'expcted'"),
        ({"input": None}, "input: this key is missing, and an EvalView test case needs it"),
        ({"expected": {"categories": ["web"], "tool_categories": ["web"]}}, "expected.categories: given as tool_categories too"),
        ({"expected": {"output": {"regex_patterns": ["("]}}}, "is not a valid regular expression"),
        ({"expected": {}}, "expected: nothing is expected of the answer; give expected.tools"),
        ({"name": " . "}, "name: "),
        ({"gate": "loose"}, "gate: "),
    ],
)
def test_what_cannot_be_done_is_refused(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        case(tmp_path, **fields)
    assert str(caught.value).startswith(f"{tmp_path / 'case.yaml'}:1: ")


@pytest.mark.parametrize("key", ["expected: {tools: [a]}", "thresholds: {min_score: 50}", "adapter: http", "adapter_config: {}"])
def test_a_case_without_its_input_is_told_what_it_lacks(tmp_path: Path, key: str) -> None:
    (tmp_path / "a.yaml").write_text(f"name: A\n{key}\n")
    assert "input: this key is missing, and an EvalView test case needs it" in refused(tmp_path / "a.yaml")


def test_two_names_that_become_one_id_are_refused(suite: Path) -> None:
    (suite / "twin.yaml").write_text(STOCKS.replace("Stock Analysis Test", "stock analysis-TEST"))
    said = refused(suite)
    assert said.startswith(f"{suite / 'twin.yaml'}:1: name: ")
    assert "'Stock Analysis Test'" in said
    assert str(suite / "stocks.yaml") in said


@pytest.mark.parametrize("content", ["", "- 1\n", "text\n", "null\n"])
def test_a_file_that_is_no_case_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.yaml").write_text(content)
    assert "not an EvalView test case" in refused(tmp_path)


def test_p40_a_suite_without_a_case_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("skill: x\n")
    assert "no EvalView test case here; 1 file (a.yaml) is left out: a suite for a skill" in refused(tmp_path)
    assert "no EvalView test cases" in refused(_empty(tmp_path / "b"))


def test_bad_toml_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("name = ")
    assert "not valid TOML" in refused(tmp_path)
    (tmp_path / "a.toml").write_text('name = "a"\nwhen = 2026-01-01\n[input]\nquery = "q"\n')
    assert refused(tmp_path).startswith(f"{tmp_path / 'a.toml'}: unknown key 'when'")


def _empty(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.parametrize("text", ["name: x\ninput: &a [*a]\n", "name: x\ninput: &a\n  context: {again: *a}\n"])
def test_a_part_that_holds_itself_is_refused_with_its_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.yaml:[23]: input.*: this part contains itself"):
        load_benchmark(file)
