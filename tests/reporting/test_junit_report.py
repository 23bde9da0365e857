"""JUnit XML: parsed back, with the figures in it, and safe whatever a skill says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting import ReportContext, render
from eval_skills.reporting.junit_report import EXCERPT_LENGTH, xml_text

MakeReport = Callable[..., SkillCompletionReport]
MakeItem = Callable[..., dict[str, Any]]
HOSTILE = "]]>\x00\x1b[31m<b>&amp;\ud800\ufffe\r\n\x85\x07"
any_text = st.text(st.characters(exclude_categories=()))


def parsed(context: ReportContext, *reports: SkillCompletionReport) -> ElementTree.Element:
    content = render("junit", reports, context)
    assert isinstance(content, bytes)
    return ElementTree.fromstring(content)


def test_a_suite_per_skill_and_a_case_per_item(make_report: MakeReport, make_item: MakeItem, context: ReportContext) -> None:
    items = [
        make_item(status="pass", latencyMs=1500.0),
        make_item(runIndex=1, latencyMs=250.0),
        make_item("t2", status="error", errorKind="infra", errorMessage="gone", latencyMs=None),
        make_item("t2", runIndex=1, status="timeout", latencyMs=None),
    ]
    root = parsed(context, make_report("low", summary={"completionRate": 0.25}, taskResults=items), make_report("high"))
    assert [suite.get("name") for suite in root] == ["high@1.0.0", "low@1.0.0"]
    low = root[1]
    assert [low.get(name) for name in ("tests", "failures", "errors", "skipped", "time")] == ["4", "1", "2", "0", "1.750000"]
    assert [root.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["5", "1", "2", "1"]
    cases = [(case.get("classname"), case.get("name"), case.get("time"), [child.tag for child in case]) for case in low[1:]]
    assert cases == [
        ("low@1.0.0.words", "t1#1", "1.500000", []),
        ("low@1.0.0.words", "t1#2", "0.250000", ["failure"]),
        ("low@1.0.0.words", "t2#1", None, ["error"]),
        ("low@1.0.0.words", "t2#2", None, ["error"]),
    ]


def test_what_a_run_did_not_evaluate_is_an_error(make_report: MakeReport, make_item: MakeItem, context: ReportContext) -> None:
    lacking = replace(context, partial=(1, 3), skipped=("skipped s: bad",))
    root = parsed(lacking, make_report(taskResults=[make_item(status="pass")]))
    assert [root.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["3", "0", "2", "0"]
    assert root[1].get("name") == f"run {context.run_id}"
    said = [(case.get("name"), error.get("message")) for case in root[1] for error in case]
    assert said == [
        ("skill that could not be used #1", "skipped s: bad"),
        ("every item", "the run is unfinished: 1 of 3 items; of the others nothing is known"),
    ]


@pytest.mark.parametrize(
    ("fields", "kind", "message"),
    [
        pytest.param({"reasons": [{"code": "NOT_EQUAL", "message": "no"}]}, "NOT_EQUAL", "no", id="first-reason"),
        pytest.param({"status": "error", "errorKind": "skill", "errorMessage": "it broke"}, "skill", "it broke", id="error-kind"),
        pytest.param({"status": "timeout"}, "timeout", "timeout", id="status"),
    ],
)
def test_the_type_is_the_code_of_the_first_reason(
    make_report: MakeReport, make_item: MakeItem, context: ReportContext, fields: dict[str, Any], kind: str, message: str
) -> None:
    trouble = parsed(context, make_report(taskResults=[make_item(**fields)]))[0][1][0]
    assert (trouble.get("type"), trouble.get("message")) == (kind, message)


def test_the_text_has_all_reasons_the_expected_and_the_answer(
    make_report: MakeReport, make_item: MakeItem, context: ReportContext
) -> None:
    reasons = [{"code": "A", "message": "one"}, {"code": "B", "message": "two", "where": "tools"}]
    item = make_item(reasons=reasons, expected={"value": 5}, output="x" * (EXCERPT_LENGTH + 7))
    (trouble,) = parsed(context, make_report(taskResults=[item])).iter("failure")
    lines = str(trouble.text).split("\n")
    assert lines[:3] == ["A: one", "B: two (at tools)", 'expected: {"value": 5}']
    assert lines[3].endswith("x … (7 more characters)")


def test_p38_figures_are_properties_and_unknown_ones_are_absent(make_report: MakeReport, context: ReportContext) -> None:
    found = {each.get("name"): each.get("value") for each in parsed(context, make_report()).iter("property")}
    assert (found["completion_rate"], found["latency_p95_ms"], found["run_id"]) == ("0.85", "1234.4", context.run_id)
    assert not {"flake_rate", "estimated_usd", "min_completion"} & found.keys()


def test_p40_a_report_without_items_is_no_empty_success(make_report: MakeReport, context: ReportContext) -> None:
    suite = parsed(context, make_report())[0]
    assert (suite.get("tests"), suite.get("skipped"), suite.get("time")) == ("1", "1", None)
    assert suite[1][0].tag == "skipped"


def test_no_skill_is_a_document_without_suites(context: ReportContext) -> None:
    root = parsed(context)
    assert (root.tag, root.get("tests"), list(root)) == ("testsuites", "0", [])


def test_what_xml_cannot_hold_is_removed() -> None:
    assert xml_text(HOSTILE) == "]]>[31m<b>&amp;\n"


@given(id_=any_text, message=any_text, output=any_text)
def test_hostile_text_stays_text(id_: str, message: str, output: str) -> None:
    from eval_skills.core.models import TaskResult
    from eval_skills.reporting.junit_report import _add_case

    item = TaskResult.model_validate(
        {
            "taskId": id_, "runIndex": 0, "status": "fail", "passed": False, "score": 0.0, "output": output,
            "reasons": [{"code": id_, "message": message}],
        }
    )  # fmt: skip
    suite = ElementTree.Element("testsuite")
    _add_case(suite, id_, item)
    (case,) = ElementTree.fromstring(ElementTree.tostring(suite, encoding="utf-8"))
    (trouble,) = case
    assert (case.get("name"), case.get("classname")) == (f"{xml_text(id_)}#1", xml_text(id_))
    assert (trouble.get("type"), trouble.get("message")) == (xml_text(id_), xml_text(message))
    assert trouble.text == xml_text(f"{id_}: {message}\nanswer: {output}")


def test_a_hostile_report_is_a_document_with_one_suite(
    make_report: MakeReport, make_item: MakeItem, context: ReportContext
) -> None:
    item = make_item(HOSTILE, output=HOSTILE, expected=HOSTILE, reasons=[{"code": HOSTILE, "message": HOSTILE, "where": HOSTILE}])
    root = parsed(context, make_report(HOSTILE, benchmarkId=HOSTILE, taskResults=[item]))
    assert [element.tag for element in root.iter() if element.tag != "property"] == [
        "testsuites", "testsuite", "properties", "testcase", "failure",
    ]  # fmt: skip
