"""A report as a graded workspace: the names that viewers read, the sign of the difference, and nothing made up."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.core.models import Benchmark, SkillCompletionReport, WorkspaceFile
from eval_skills.reporting import ReportContext
from eval_skills.reporting.exports.agent_skills import arm_of, workspaces_of
from tests.tables import each_row

MakeReport = Callable[..., SkillCompletionReport]
MakeItem = Callable[..., dict[str, Any]]

SENTENCES = ["a.csv is there", "it is easy to read"]
EVALUATORS = [
    {"type": "file_exists", "path": "a.csv", "name": "assertion-1"},
    {"type": "llm_judge", "criteria": "x", "name": "assertion-2"},
]


@pytest.fixture
def asked(context: ReportContext) -> ReportContext:
    tasks = [
        {"id": "eval-7", "inputData": {"prompt": "Seven?"}, "evaluators": EVALUATORS, "metadata": {"assertions": SENTENCES}},
        {"id": "eval-3", "inputData": "Three?", "expectedOutput": {"value": "3"}},
    ]
    benchmark = Benchmark.model_validate({"id": "b", "name": "B", "version": "1.0.0", "tasks": tasks})
    return replace(context, benchmark=benchmark)


@pytest.fixture
def arms(make_report: MakeReport, make_item: MakeItem) -> list[SkillCompletionReport]:
    said = [{"code": "JUDGE_VERDICT", "message": "assertion-2: a wall of text", "informational": True}]
    with_skill = [
        make_item(
            "eval-7", status="pass", score=1.0, dimensions={"assertion-1": 1, "assertion-2": 1}, promptTokens=3,
            completionTokens=4, output="42",
        ),
        make_item("eval-3", status="pass", score=1.0, latencyMs=None, toolCalls=[{"name": "ls"}, {"name": "cat", "error": "no"}]),
    ]  # fmt: skip
    without = [
        make_item("eval-7", score=0.5, dimensions={"assertion-1": 1, "assertion-2": 0}, reasons=said, promptTokens=3),
        make_item("eval-3", status="error", score=None, errorKind="infra", errorMessage="gone"),
    ]
    return [make_report("csv-without", taskResults=without), make_report("csv-with", taskResults=with_skill)]


def test_runs_lie_where_viewers_look_for_them(arms: list[SkillCompletionReport], asked: ReportContext) -> None:
    left = [
        WorkspaceFile(path="out/a.csv", change="added", content="h\n"),
        WorkspaceFile(path="../../evil", change="added", content="x"),
        WorkspaceFile(path="/evil", change="added", content="x"),
        WorkspaceFile(path="big", change="added"),
        WorkspaceFile(path="old", change="deleted"),
    ]
    [export] = workspaces_of(arms, asked, {("csv-with@1.0.0", "eval-7", 0): left})
    assert export.skill == "csv"
    assert {name for name in export.files if name.startswith("eval-7/with_skill")} == {
        "eval-7/with_skill/run-1/grading.json",
        "eval-7/with_skill/run-1/timing.json",
        "eval-7/with_skill/run-1/outputs/out/a.csv",
        "eval-7/with_skill/run-1/outputs/final_answer.md",
    }
    assert "eval-3/without_skill/run-1/grading.json" not in export.files, "it was not judged"
    assert json.loads(export.files["eval-7/eval_metadata.json"])["eval_id"] == 7
    assert not any("evil" in name for name in export.files)


def test_a_file_of_the_agents_does_not_hide_the_answer(arms: list[SkillCompletionReport], asked: ReportContext) -> None:
    left = [WorkspaceFile(path=name, change="added", content="mine") for name in ("final_answer.md", "Final_Answer-2.md")]
    [export] = workspaces_of(arms, asked, {("csv-with@1.0.0", "eval-7", 0): left})
    outputs = {
        name.rpartition("/")[2]: content.decode()
        for name, content in export.files.items()
        if "eval-7/with_skill/run-1/out" in name
    }
    assert outputs == {"final_answer.md": "mine", "Final_Answer-2.md": "mine", "final_answer-3.md": "42"}


def test_gradings_have_sentences_and_evidence(arms: list[SkillCompletionReport], asked: ReportContext) -> None:
    [export] = workspaces_of(arms, asked, {})
    grading = json.loads(export.files["eval-7/without_skill/run-1/grading.json"])
    assert grading["expectations"] == grading["assertion_results"] == [
        {"text": "a.csv is there", "passed": True, "evidence": "score 1"},
        {"text": "it is easy to read", "passed": False, "evidence": "a wall of text"},
    ]  # fmt: skip
    assert grading["summary"] == {"passed": 1, "failed": 1, "total": 2, "pass_rate": 0.5}


def test_figures_are_with_minus_without_and_null_where_unknown(arms: list[SkillCompletionReport], asked: ReportContext) -> None:
    [export] = workspaces_of(arms, asked, {})
    content = json.loads(export.files["benchmark.json"])
    assert list(content["run_summary"]) == ["with_skill", "without_skill", "delta"]
    assert content["run_summary"]["delta"]["pass_rate"] == "+0.50"
    assert content["run_summary"]["without_skill"]["tokens"] is None, "a part of them is not known"
    runs = {(run["eval_id"], run["configuration"]): run["result"] for run in content["runs"]}
    assert runs.keys() == {(7, "with_skill"), (7, "without_skill"), (3, "with_skill")}
    assert (runs[7, "with_skill"]["tokens"], runs[7, "with_skill"]["tool_calls"]) == (7, None)
    assert (runs[3, "with_skill"]["time_seconds"], runs[3, "with_skill"]["errors"]) == (None, 1)
    assert "1 run ended without a verdict" in content["notes"][0]
    assert json.loads(export.files["eval-3/with_skill/run-1/timing.json"]) == {}


def test_without_the_benchmark_the_names_of_assertions_stand_for_them(
    arms: list[SkillCompletionReport], context: ReportContext
) -> None:
    [export] = workspaces_of(arms, replace(context, benchmark=None), {})
    grading = json.loads(export.files["eval-7/with_skill/run-1/grading.json"])
    assert [each["text"] for each in grading["expectations"]] == ["assertion-1", "assertion-2"]


def test_task_ids_of_any_kind_get_a_folder_of_their_own(
    make_report: MakeReport, make_item: MakeItem, context: ReportContext
) -> None:
    ids = ["../up", "..", "a/b", "a b", "A b", "技能", "x" * 300]
    report = make_report("solo", taskResults=[make_item(each, output="\ud800") for each in ids])
    [export] = workspaces_of([report], context, {})
    names = sorted({name.partition("/")[0].lower() for name in export.files if name.startswith("eval-")})
    assert len(names) == len(ids)
    assert all(len(name) < 100 and ".." not in name for name in names)


@each_row(
    ("skill_id", "found"),
    [
        ("csv-with", ("csv", "with_skill")),
        ("csv-without", ("csv", "without_skill")),
        ("a-b-old", ("a-b", "old_skill")),
        ("csv-sham", ("csv", "sham_skill")),
        ("csv", ("csv", "with_skill")),
        ("-with", ("-with", "with_skill")),
    ],
)
def test_the_arm_is_the_end_of_the_id(skill_id: str, found: tuple[str, str]) -> None:
    assert arm_of(skill_id) == found


def test_two_of_one_configuration_are_refused(make_report: MakeReport, make_item: MakeItem, context: ReportContext) -> None:
    reports = [make_report(name, taskResults=[make_item()]) for name in ("csv", "csv-with")]
    with pytest.raises(UsageError, match=r"csv@1\.0\.0 and csv-with@1\.0\.0 are both with_skill of csv"):
        workspaces_of(reports, context, {})
    with pytest.raises(UsageError, match="figures only"):
        workspaces_of([make_report()], context, {})
