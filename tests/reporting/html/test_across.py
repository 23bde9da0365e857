"""What the HTML report shows across its skills: the matrix, failures by their reason, and the fronts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.reporting import ReportContext, render
from eval_skills.reporting.html.across import (
    GROUPS_SHOWN,
    MatrixRow,
    failure_groups,
    fronts,
    matrix_rows,
    points,
    totals,
    why_failed,
)
from eval_skills.reporting.html.payload import payload
from tests.tables import each_row

MakeReport = Callable[..., SkillCompletionReport]
MakeItem = Callable[..., dict[str, Any]]


@each_row(
    ("codes", "kind"),
    [
        pytest.param("f1 e1 t1", "all", id="nobody-passed"),
        pytest.param("p1 f1 p1", "alone", id="one-failed"),
        pytest.param("p3 m2/3 p3", "alone", id="one-was-flaky"),
        pytest.param("p3 m2/3 f3", None, id="one-flaky-one-failed"),
        pytest.param("p1 f1 f1", "only", id="one-passed"),
        pytest.param("m1/3 f3 f3", "only", id="one-passed-once"),
        pytest.param("p1 f1", "alone", id="of-two"),
        pytest.param("p1 p1", None, id="all-passed"),
        pytest.param("p3 p1/3 f3", "alone", id="without-a-verdict-is-not-failed"),
        pytest.param("f1 -", None, id="asked-of-one-alone"),
        pytest.param("p1 f1 -", "alone", id="not-asked-does-not-count"),
    ],
)
def test_what_is_special_about_a_task(codes: str, kind: str | None) -> None:
    assert MatrixRow("words", "t", tuple(codes.split())).kind == kind


def test_a_row_has_a_code_for_each_skill(make_report: MakeReport, make_item: MakeItem) -> None:
    passed, failed = ([make_item("t", runIndex=run, status=status) for run in range(2)] for status in ("pass", "fail"))
    mixed = [make_item("t", status="pass"), make_item("t", runIndex=1, status="error")]
    broken = [make_item("t", status="error"), make_item("t", runIndex=1, status="timeout")]
    late = [make_item("t", status="timeout"), make_item("u", status="pass")]
    down = {"status": "error", "errorKind": "infra"}  # without a verdict
    late += [make_item("v", status="pass"), make_item("v", runIndex=1, **down), make_item("w", **down)]
    passed += [make_item(name, status="pass") for name in "vw"]
    reports = [make_report(str(n), taskResults=items) for n, items in enumerate([passed, failed, mixed, broken, late])]
    rows = {row.task_id: row.codes for row in matrix_rows(reports)}
    assert rows == {"t": ("p2", "f2", "m1/2", "f2", "t1"), "u": ("-", "-", "-", "-", "p1"), **{
        "v": ("p1", "-", "-", "-", "p1/2"), "w": ("p1", "-", "-", "-", "e1"),
    }}  # fmt: skip


def test_skills_that_share_no_task_have_no_matrix(make_report: MakeReport, make_item: MakeItem) -> None:
    one = make_report("a", taskResults=[make_item("t")])
    assert matrix_rows([one]) == []
    assert matrix_rows([one, make_report("b", benchmarkId="other", taskResults=[make_item("t")])]) == []


REMARK = {"code": "TOOL_UNEXPECTED", "message": "called beyond what is expected: book (1)", "informational": True}


@each_row(
    ("fields", "keys"),
    [
        pytest.param({"status": "pass", "reasons": [{"code": "A", "message": "m"}]}, [], id="passed"),
        pytest.param({"reasons": [{"code": each, "message": "m"} for each in "ABA"]}, ["reason:A", "reason:B"], id="each-once"),
        pytest.param(
            {"status": "error", "errorKind": "infra", "reasons": [{"code": "A", "message": "m"}]}, ["error:infra"], id="error"
        ),
        pytest.param({"status": "timeout"}, ["error:timeout"], id="kind-not-recorded"),
        pytest.param({"reasons": []}, ["reason:no reason recorded"], id="no-reason"),
        pytest.param({"reasons": [REMARK, {"code": "A", "message": "m"}]}, ["reason:A"], id="remark-is-not-why"),
        pytest.param({"reasons": [REMARK]}, ["reason:TOOL_UNEXPECTED"], id="only-a-remark"),
    ],
)  # fmt: skip
def test_which_groups_an_item_belongs_to(make_item: MakeItem, fields: dict[str, Any], keys: list[str]) -> None:
    assert why_failed(TaskResult.model_validate(make_item(**fields))) == keys


def test_failures_are_grouped_across_skills(make_report: MakeReport, make_item: MakeItem, context: ReportContext) -> None:
    wrong = [{"code": "NOT_EQUAL", "message": "4 is not 5"}]
    a = make_report("a", taskResults=[make_item("t", runIndex=run, reasons=wrong) for run in range(2)])
    refused = make_item("t", status="error", errorKind="infra", errorMessage="refused")
    b = make_report("b", taskResults=[make_item("u", reasons=wrong), refused])
    data = payload([a, b], context)
    wrong_group, infra = data["failures"]
    assert wrong_group | {"example": None} == {
        "key": "reason:NOT_EQUAL", "items": 3, "tasks": 2, "skills": [(0, 2), (1, 1)], "example": None,
    }  # fmt: skip
    assert (infra["key"], infra["skills"], data["texts"][infra["example"]["text"]][0]) == (
        "error:infra",
        [(1, 1)],
        "infra: refused",
    )
    assert [item["why"] for skill in data["skills"] for item in skill["items"]] == [[0], [0], [0], [1]]


def test_of_very_many_groups_the_page_says_how_many_are_left_out(
    make_report: MakeReport, make_item: MakeItem, context: ReportContext
) -> None:
    items = [make_item(str(n), reasons=[{"code": f"CODE_{n}", "message": "m"}]) for n in range(GROUPS_SHOWN + 3)]
    report = make_report(taskResults=items)
    data = payload([report], context)
    assert (len(failure_groups([report])), len(data["failures"]), data["failuresMore"]) == (GROUPS_SHOWN + 3, GROUPS_SHOWN, 3)
    assert sum("why" not in item for item in data["skills"][0]["items"]) == 3


def at(completion: float, p95: float | None) -> dict[str, Any]:
    return {"completion": completion} if p95 is None else {"completion": completion, "p95": p95}


@each_row(
    ("places", "front"),
    [
        pytest.param([at(0.9, 50), at(0.5, 10), at(0.4, 20), at(1.0, 90)], [1, 0, 3], id="cheapest-first"),
        pytest.param([at(0.9, 50), at(0.9, 40)], [1], id="equally-good-and-slower"),
        pytest.param([at(0.9, 50), at(0.8, 50)], [0], id="equally-fast-and-worse"),
        pytest.param([at(0.9, 50), at(0.9, 50)], [0, 1], id="the-same-place"),
        pytest.param([at(1.0, None), at(0.1, 50)], [1], id="unknown-is-not-in-it"),
        pytest.param([at(0.0, 1), at(0.5, 10)], [1], id="what-passed-nothing-is-not-in-it"),
        pytest.param([], [], id="nothing"),
    ],
)
def test_the_front(places: list[dict[str, Any]], front: list[int]) -> None:
    assert fronts(places)["completion/p95"] == front


def test_the_cost_of_an_item_is_that_of_those_that_know_theirs(make_report: MakeReport, make_item: MakeItem) -> None:
    items = [make_item("a", costUsd=0.25), make_item("b", costUsd=0.75), make_item("c")]
    some, none = points([make_report(taskResults=items), make_report(taskResults=items[2:])])
    assert (some["cost"], some["priced"]) == (0.5, 2)
    assert "cost" not in none


def test_a_cost_that_is_unknown_of_some_items_is_on_no_front() -> None:
    places = [at(1.0, 5) | {"cost": 0.05, "priced": 1}, at(1.0, 5) | {"cost": 0.08}]
    found = fronts(places)
    assert (found["completion/cost"], found["completion/p95"]) == ([1], [0, 1])


def test_costs_stand_apart_and_what_is_unknown_is_said(make_report: MakeReport, make_item: MakeItem) -> None:
    priced = make_report("a", token_cost={"estimatedUSD": 1.5}, taskResults=[make_item("t", costUsd=1.5)])
    partly = make_report("b", token_cost={"estimatedUSD": 0.5}, taskResults=[make_item("t", costUsd=0.5), make_item("u")])
    judged = make_report("c", token_cost={"estimatedUSD": None, "judgeTokens": 12, "judgeUSD": None})
    paid = make_report("d", token_cost={"judgeTokens": 12, "judgeUSD": 0.25})

    def costs(*reports: SkillCompletionReport) -> tuple[str, str]:
        found = dict(totals(reports))
        return found["Cost of the skills"], found["Cost of judging"]

    assert costs(priced) == ("$1.50", "no model judged")
    assert costs(priced, partly) == ("at least $2.00, unknown of 1 of 3 items", "no model judged")
    silent = make_report("s", summary={"items": 5})
    assert costs(partly, silent)[0] == "at least $0.5000, unknown of 6 of 7 items"
    assert costs(judged) == ("unknown", "unknown")
    assert costs(judged, paid)[1] == "at least $0.2500, unknown of 1 of 2 skills"


def test_tiles_say_which_k(make_report: MakeReport, context: ReportContext) -> None:
    [known, unknown] = payload([make_report("a", evaluatorMetadata={"k": 3}), make_report("b")], context)["skills"]
    assert ("pass@3", "95.0 %") in known["figures"]
    assert ("pass@k", "95.0 %") in unknown["figures"]
    assert "| pass@3 | 95.0 % |" in str(render("markdown", [make_report("a", evaluatorMetadata={"k": 3})], context))
