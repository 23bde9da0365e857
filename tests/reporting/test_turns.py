"""The turns of a conversation in the reports."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.models import Benchmark, SkillCompletionReport, TaskResult
from eval_skills.reporting import ReportContext, read_reports, render
from eval_skills.reporting.html.payload import TURNS_SHOWN, payload
from eval_skills.reporting.html.runs import pointed_at
from eval_skills.reporting.sections import turn_lines

MakeReport = Callable[..., SkillCompletionReport]
MakeItem = Callable[..., dict[str, Any]]

WHY = {"code": "OUTPUT_MISMATCH", "message": 'expected "Aare", got "Rhine"', "where": "output"}
TURNS = [
    {"turn": 1, "input": "capital?", "output": "Bern", "status": "pass", "score": 1.0, "passed": True, "latencyMs": 3.0},
    {
        "turn": 2,
        "input": {"q": "its river?"},
        "output": "Rhine",
        "status": "fail",
        "score": 0.0,
        "passed": False,
        "reasons": [WHY],
    },
    {"turn": 3, "input": "thanks", "output": None, "toolCalls": []},
]


@pytest.fixture
def report(make_report: MakeReport, make_item: MakeItem) -> SkillCompletionReport:
    why = [{**WHY, "message": f"turn 2: {WHY['message']}", "where": "turns[1].output"}]
    items = [make_item("talk", turns=TURNS, reasons=why, output=None), make_item("plain")]
    none = {"completionRate": 0.0, "errorRate": 0.0, "consistencyScore": None, "confidenceInterval": {"lower": 0.0, "upper": 1.0}}
    return make_report(taskResults=items, summary=none, latency=dict.fromkeys(("p50Ms", "p95Ms", "p99Ms", "meanMs"), 12.5))


def test_the_json_report_has_them_where_there_are_any(
    report: SkillCompletionReport, context: ReportContext, tmp_path: Path
) -> None:
    text = str(render("json", [report], context))
    talk, plain = json.loads(text)[0]["taskResults"]
    assert [(turn["turn"], turn["status"], turn["output"]) for turn in talk["turns"]] == [
        (1, "pass", "Bern"),
        (2, "fail", "Rhine"),
        (3, None, None),
    ]
    assert "turns" not in plain
    (tmp_path / "report.json").write_text(text)
    (found,) = read_reports(tmp_path / "report.json")
    assert found.task_results == report.task_results


def test_the_markdown_report_lists_them_below_a_failure(report: SkillCompletionReport, context: ReportContext) -> None:
    text = str(render("markdown", [report], context))
    assert "Run #1, turn by turn:" in text
    assert text.count("- turn ") == 3
    assert "turn 2 fail: " in text


def test_a_long_conversation_is_cut_with_its_number_of_turns(make_item: MakeItem) -> None:
    turns = [{"turn": number, "input": "x"} for number in range(1, 1001)]
    lines = turn_lines(TaskResult.model_validate(make_item(turns=turns)))
    assert (len(lines), lines[0], lines[-1]) == (21, "turn 1 not judged: x → null", "and 980 more")


def test_the_html_report_has_what_was_said_and_why(report: SkillCompletionReport, context: ReportContext) -> None:
    shown = payload([report], context)
    texts = [text for text, _, _ in shown["texts"]]
    first, second, third = shown["skills"][0]["items"][0]["turns"]
    assert (texts[first["input"]], texts[first["output"]], first["status"], first["ms"]) == ("capital?", "Bern", "pass", 3.0)
    assert [texts[reason] for reason in second["reasons"]] == ['OUTPUT_MISMATCH: expected "Aare", got "Rhine" (at output)']
    assert (third.get("status"), third["calls"]) == (None, 0)
    assert "turns" not in shown["skills"][0]["items"][1]


def test_the_html_report_of_a_long_conversation_says_what_it_leaves_out(
    make_report: MakeReport, make_item: MakeItem, context: ReportContext
) -> None:
    turns = [{"turn": number, "input": number} for number in range(1, 1001)]
    [item] = payload([make_report(taskResults=[make_item(turns=turns)])], context)["skills"][0]["items"]
    assert (len(item["turns"]), item["turnsMore"]) == (TURNS_SHOWN, 1000 - TURNS_SHOWN)


def test_what_the_turns_are_judged_by_is_shown(report: SkillCompletionReport, context: ReportContext) -> None:
    task = {"id": "talk", "turns": [{"input": "capital?", "expected": "Bern"}, {"input": "thanks"}]}
    benchmark = Benchmark.model_validate({"id": report.benchmark_id, "name": "B", "version": "1.0.0", "tasks": [task]})
    shown = payload([report], ReportContext(run_id="r", created_at=context.created_at, benchmark=benchmark))
    rules = shown["texts"][shown["tasks"][0]["rules"]][0]
    assert '"Bern"' in rules


def test_a_reason_about_a_turn_points_to_no_call_of_the_whole(make_item: MakeItem) -> None:
    why = [{"code": "X", "message": "x", "where": "turns[1].toolCalls[0]"}]
    assert pointed_at(TaskResult.model_validate(make_item(reasons=why)), "toolCalls") == frozenset()
