"""The JSON report: an array that reads back as the same reports."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting import ReportContext, read_reports, render, write_reports
from eval_skills.reporting.context import ranked
from eval_skills.reporting.escape import encodable
from eval_skills.reporting.json_report import parts, render_reports

MakeReport = Callable[..., SkillCompletionReport]
MakeItem = Callable[..., dict[str, Any]]


def test_what_is_written_reads_back_best_first(
    make_report: MakeReport, make_item: MakeItem, context: ReportContext, tmp_path: Path
) -> None:
    items = [
        make_item(output={"é": [1, None, "<b>"]}, reasons=[{"code": "C", "message": "m"}]),
        make_item(status="pass", passed=True, score=1.0),
    ]
    worse, better = make_report("a", taskResults=items), make_report("b", summary={"completionRate": 0.9})
    (path,) = write_reports([worse, better], ["json"], tmp_path, context)
    found = read_reports(path)
    assert [each.model_copy(update={"evaluator_metadata": {}}) for each in found] == [better, worse]
    assert {each.evaluator_metadata["reportedRun"]["runId"] for each in found} == {context.run_id}


def test_keys_are_camel_case_and_figures_unrounded(make_report: MakeReport, context: ReportContext) -> None:
    (report,) = json.loads(render("json", [make_report()], context))
    assert report["summary"]["consistencyScore"] == 0.9528595479208968
    assert report["tokenCost"]["estimatedUSD"] is None


@pytest.mark.parametrize(
    ("output", "kept"),
    [
        pytest.param("lone \ud800", "lone \ud800", id="surrogate"),
        pytest.param([float("nan"), float("inf")], [None, None], id="not-finite"),
        pytest.param("\x00\u2028", "\x00\u2028", id="control"),
    ],
)
def test_any_answer_makes_valid_json(
    make_report: MakeReport, make_item: MakeItem, context: ReportContext, tmp_path: Path, output: Any, kept: Any
) -> None:
    (path,) = write_reports([make_report(taskResults=[make_item(output=output)])], ["json"], tmp_path, context)
    text = path.read_bytes().decode("utf-8")
    assert json.loads(text, parse_constant=pytest.fail)[0]["taskResults"][0]["output"] == kept


def test_no_reports_are_an_empty_array(context: ReportContext) -> None:
    assert json.loads(render("json", [], context)) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("{}", "a report is an array of completion reports; this is a dict", id="object"),
        pytest.param('[{"skilId": 1}]', "[0]: unknown key 'skilId' (did you mean 'skillId'?)", id="unknown-key"),
        pytest.param("[", "not valid JSON at line 1", id="broken"),
    ],
)
def test_a_file_that_is_no_report_is_refused_with_the_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape(f"{path}: {message}")):
        read_reports(path)


def test_an_item_that_failed_and_passed_is_refused(
    make_report: MakeReport, make_item: MakeItem, context: ReportContext, tmp_path: Path
) -> None:
    items = [make_item(), make_item(status="fail", passed=True)]
    (path,) = write_reports([make_report(taskResults=items)], ["json"], tmp_path, context)
    with pytest.raises(InputError, match=re.escape("[0].taskResults[1]: status is 'fail' and passed true; only items with")):
        read_reports(path)


def test_what_is_written_piece_by_piece_is_the_same_text(make_report: MakeReport, make_item: MakeItem) -> None:
    texts = [make_item(output={"taskResults": [], "line": "a\nb\u2028c\ud800"}), make_item(output=[])]
    reports = [make_report(taskResults=texts), make_report("empty")]
    data = [report.to_json() for report in ranked(reports)]
    assert render_reports(reports) == encodable(json.dumps(data, ensure_ascii=False, indent=2)) + "\n"
    assert "".join(parts([])) == "[]\n"
