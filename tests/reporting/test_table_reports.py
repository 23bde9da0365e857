"""CSV and Parquet: one row per skill, figures unrounded, no formulas."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting import ReportContext, render
from eval_skills.reporting.escape import csv_cell
from eval_skills.reporting.table import COLUMNS
from tests.tables import each_row

MakeReport = Callable[..., SkillCompletionReport]
MakeItem = Callable[..., dict[str, Any]]


def csv_rows(reports: list[SkillCompletionReport], context: ReportContext) -> list[dict[str, str]]:
    text = render("csv", reports, context)
    assert isinstance(text, str)
    return list(csv.DictReader(io.StringIO(text, newline="")))


def parquet_table(reports: list[SkillCompletionReport], context: ReportContext) -> Any:
    content = render("parquet", reports, context)
    assert isinstance(content, bytes)
    return parquet.read_table(io.BytesIO(content))


def test_csv_figures_come_back_unrounded(make_report: MakeReport, make_item: MakeItem, context: ReportContext) -> None:
    reasons = [{"code": "NOT_EQUAL", "message": "m"}, {"code": "TOO_SLOW", "message": "m"}]
    items = [make_item(reasons=reasons), make_item(reasons=reasons[:1]), make_item(status="pass", reasons=reasons)]
    report = make_report(taskResults=items, summary={"items": 20, "counts": {"pass": 17, "fail": 2, "error": 1, "timeout": 0}})
    (row,) = csv_rows([report], replace(context, min_completion=0.7, ranks={report.skill_key: 1}))
    figures = ("completion_rate", "confidence_lower", "confidence_upper", "consistency_score", "latency_p95_ms")
    assert [float(row[name]) for name in figures] == [0.85, 0.6211, 0.9679, 0.9528595479208968, 1234.4]
    assert [row[name] for name in ("passed", "failed", "errors", "timeouts", "items")] == ["17", "2", "1", "0", "20"]
    assert (row["meets_min_completion"], row["selected_rank"], row["reasons"]) == ("true", "1", "NOT_EQUAL ×2; TOO_SLOW ×1")


@each_row("name", ["estimated_usd", "pass_hat_k", "flake_rate", "min_completion", "meets_min_completion", "selected_rank"])
def test_p38_unknown_is_empty_and_never_zero(make_report: MakeReport, context: ReportContext, name: str) -> None:
    assert csv_rows([make_report()], context)[0][name] == ""
    assert parquet_table([make_report()], context)[name].to_pylist() == [None]


@each_row("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_text_is_no_formula(make_report: MakeReport, context: ReportContext, start: str) -> None:
    report = make_report(f'{start}HYPERLINK("http://127.0.0.1", "a,b")')
    (row,) = csv_rows([report], context)
    assert row["skill_id"] == f"'{report.skill_id}"


@each_row("number", ["-5", "-0.25", "-1e5", "-2.5E-07"])
def test_a_negative_number_as_text_computes_nothing_and_stays(number: str) -> None:
    assert csv_cell(number) == number


@each_row("sum_", ["-5+1", "-5\n", "-A1", "--5", "-5.", "-.5", "-0x1F", "-Infinity", "+5", "-\u0665", "-1e", "-1,2"])
def test_what_only_begins_as_a_number_is_no_formula(sum_: str) -> None:
    assert csv_cell(sum_) == f"'{sum_}"


def test_negative_numbers_stay_numbers(make_report: MakeReport, context: ReportContext) -> None:
    (row,) = csv_rows([make_report(summary={"compositeScore": -0.25})], context)
    assert row["composite_score"] == "-0.25"


@pytest.mark.parametrize("name", ['a"b,c', "line\nbreak", "é ⏎", "lone \ud800"])
def test_awkward_text_stays_one_cell(make_report: MakeReport, context: ReportContext, name: str) -> None:
    (row,) = csv_rows([make_report(name)], context)
    assert row["skill_id"] == name.replace("\ud800", "\\ud800")
    assert parquet_table([make_report(name)], context)["skill_id"].to_pylist() == [row["skill_id"]]


def test_parquet_holds_the_rows_of_the_csv_typed(make_report: MakeReport, context: ReportContext) -> None:
    reports = [make_report("b"), make_report("a", summary={"completionRate": 1.0})]
    table = parquet_table(reports, context)
    assert table["skill_id"].to_pylist() == [row["skill_id"] for row in csv_rows(reports, context)] == ["a", "b"]
    assert table["rank"].to_pylist() == [1, 2]
    assert table["completion_rate"].to_pylist() == [1.0, 0.85]
    assert table.schema.field("flake_rate").type == pa.float64()
    assert table.schema.field("items").type == pa.int64()


def test_without_skills_the_columns_remain(context: ReportContext) -> None:
    table = parquet_table([], context)
    assert table.num_rows == 0
    assert table.column_names == ["rank", *(column.name for column in COLUMNS)]
    assert str(render("csv", [], context)).rstrip("\n").split(",") == table.column_names


def test_p69_the_interval_and_its_method_and_the_reasons_are_columns() -> None:
    assert {"confidence_lower", "confidence_upper", "confidence_level", "confidence_method", "reasons"} <= {
        c.name for c in COLUMNS
    }
