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
from eval_skills.core.text import encodable
from eval_skills.reporting import ReportContext, read_reports, render, write_reports
from eval_skills.reporting.context import ranked
from eval_skills.reporting.json_report import parts, render_reports

MakeReport = Callable[..., SkillCompletionReport]
MakeItem = Callable[..., dict[str, Any]]


def test_what_is_written_reads_back_best_first(
    make_report: MakeReport, make_item: MakeItem, context: ReportContext, tmp_path: Path
) -> None:
    items = [
        make_item(output={"é": [1, None, "<b>"]}, reasons=[{"code": "C", "message": "m"}]),
        make_item(runIndex=1, status="pass", passed=True, score=1.0),
    ]
    half = {"completionRate": 0.5, "errorRate": 0.0, "consistencyScore": 0.5, "confidenceInterval": {"lower": 0.0, "upper": 1.0}}
    latency = dict.fromkeys(("p50Ms", "p95Ms", "p99Ms", "meanMs"), 12.5)
    worse = make_report("a", taskResults=items, summary=half, latency=latency)
    better = make_report("b", summary={"completionRate": 0.9})
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


WHOLE: dict[str, Any] = {
    "completionRate": 1 / 3, "errorRate": 1 / 3, "items": 3, "tasks": 2,
    "counts": {"pass": 1, "fail": 1, "error": 1, "timeout": 0},
    "missingItems": 1, "judgedCompletionRate": 0.5, "completionUpperBound": 2 / 3,
    "confidenceInterval": {"lower": 0.002, "upper": 0.992, "method": "wilson_effective"},
    "consistencyScore": 0.75, "flakeRate": 1.0, "passAtK": 0.25, "passHatK": 0.25, "compositeScore": 0.5 / 3 + 0.175 + 0.2,
    "forbiddenItems": 1,
}  # fmt: skip
"""The figures of `three`."""
OF_THREE: dict[str, Any] = {
    "latency": {"p50Ms": 10.0, "p95Ms": 12.5, "p99Ms": 12.5, "meanMs": 11.25},
    "token_cost": {"promptTokens": 7, "completionTokens": None, "totalTokens": None, "estimatedUSD": 0.5},
    "evaluatorMetadata": {"k": 1, "maxLatencyMs": 100.0},
}
"""What its report says beside them."""


@pytest.fixture
def three(make_item: MakeItem) -> list[dict[str, Any]]:
    """Items that passed, failed, and have no verdict."""
    return [
        make_item(status="pass", score=1.0, latencyMs=10.0, promptTokens=7, costUsd=0.3),
        make_item(runIndex=1, costUsd=0.2, reasons=[{"code": "FORBIDDEN_TOOL_CALLED", "message": "rm"}]),
        make_item("t2", status="error", score=None, errorKind="infra", latencyMs=9_000.0),
    ]  # fmt: skip


def written(folder: Path, *reports: SkillCompletionReport) -> Path:
    path = folder / "report.json"
    path.write_text(render_reports(reports))
    return path


@pytest.mark.parametrize(
    ("figures", "message"),
    [
        pytest.param({"completionRate": 0.95}, "completionRate: it says 0.9500, but its items give 0.3333 (1 of 3)", id="rate"),
        pytest.param({"errorRate": 0.0}, "errorRate: it says 0.0000, but its items give 0.3333 (1 of 3)", id="errors"),
        pytest.param(
            {"judgedCompletionRate": 1.0}, "judgedCompletionRate: it says 1.0000, but its items give 0.5000 (1 of 2)", id="judged"
        ),
        pytest.param(
            {"completionUpperBound": 1.0}, "completionUpperBound: it says 1.0000, but its items give 0.6667 (2 of 3)", id="bound"
        ),
        pytest.param({"items": 99}, "items: it says 99, but its items give 3", id="items"),
        pytest.param({"tasks": 3}, "tasks: it says 3, but its items give 2", id="tasks"),
        pytest.param({"missingItems": 0}, "missingItems: it says 0, but its items give 1", id="missing"),
        pytest.param({"counts": {"pass": 2, "fail": 0, "error": 1}}, "counts.pass: it says 2, but its items give 1", id="counts"),
        pytest.param({"forbiddenItems": 0}, "forbiddenItems: it says 0, but its items give 1", id="forbidden"),
        pytest.param({"flakeRate": 0.0}, "flakeRate: it says 0.0000, but its items give 1.0000", id="flaky"),
        pytest.param({"consistencyScore": 1.0}, "consistencyScore: it says 1.0000, but its items give 0.7500", id="consistent"),
        pytest.param({"passAtK": 0.9}, "passAtK: it says 0.9000, but its items give 0.2500", id="pass-at-k"),
        pytest.param({"passHatK": 0.9}, "passHatK: it says 0.9000, but its items give 0.2500", id="pass-hat-k"),
        pytest.param(
            {"compositeScore": 0.99}, "compositeScore: it says 0.9900, but its rates and its P95 give 0.5417", id="composite"
        ),
        pytest.param(
            {"confidenceInterval": {"lower": 0.32, "upper": 0.34, "method": "wilson_effective"}},
            "confidenceInterval.lower: it says 0.3200, but its items give 0.0020",
            id="narrow-interval",
        ),
        pytest.param(
            {"confidenceInterval": {"lower": 0.9, "upper": 0.95, "method": "jeffreys"}},
            "confidenceInterval: it is 0.9000 to 0.9500, and does not hold the completion rate, 0.3333",
            id="interval-elsewhere",
        ),
    ],
)
def test_a_summary_that_its_items_contradict_is_refused(
    make_report: MakeReport, three: list[dict[str, Any]], tmp_path: Path, figures: dict[str, Any], message: str
) -> None:
    read_reports(written(tmp_path, make_report(taskResults=three, summary=WHOLE, **OF_THREE)))
    path = written(tmp_path, make_report(taskResults=three, summary=WHOLE | figures, **OF_THREE))
    with pytest.raises(InputError, match=re.escape(f"{path}: [0].summary.{message}")):
        read_reports(path)


@pytest.mark.parametrize(
    ("of", "figures", "message"),
    [
        pytest.param("latency", {"p95Ms": 1.0}, "latency.p95Ms: it says 1.0000, but its items give 12.5000", id="p95"),
        pytest.param("latency", {"p50Ms": 12.5}, "latency.p50Ms: it says 12.5000, but its items give 10.0000", id="p50"),
        pytest.param("latency", {"p99Ms": 9_000.0}, "latency.p99Ms: it says 9000.0000, but its items give 12.5000", id="p99"),
        pytest.param("latency", {"meanMs": 1.0}, "latency.meanMs: it says 1.0000, but its items give 11.2500", id="mean"),
        pytest.param("token_cost", {"estimatedUSD": 0.01}, "tokenCost.estimatedUSD: it says 0.0100, but its", id="cost"),
        pytest.param("token_cost", {"promptTokens": 70}, "tokenCost.promptTokens: it says 70.0000, but its items", id="tokens"),
    ],
)
def test_percentiles_and_sums_that_the_items_contradict_are_refused(
    make_report: MakeReport, three: list[dict[str, Any]], tmp_path: Path, of: str, figures: dict[str, Any], message: str
) -> None:
    path = written(tmp_path, make_report(taskResults=three, summary=WHOLE, **OF_THREE | {of: OF_THREE[of] | figures}))
    with pytest.raises(InputError, match=re.escape(f"{path}: [0].{message}")):
        read_reports(path)


ONCE: dict[str, Any] = {
    "completionRate": 0.5, "partialScore": 0.5, "errorRate": 0.0, "passAtK": 0.5, "compositeScore": 0.25 + 0.18 + 0.3,
    "consistencyScore": None,
    "confidenceInterval": {"lower": 0.0150, "upper": 0.9850, "method": "wilson_widened"},
}  # fmt: skip
"""The figures of two tasks that were run once, of which one passed."""


@pytest.mark.parametrize(
    ("of", "figures", "message"),
    [
        pytest.param("summary", {"compositeScore": 0.99}, "summary.compositeScore: it says 0.9900", id="composite"),
        pytest.param(
            "summary",
            {"confidenceInterval": ONCE["confidenceInterval"] | {"lower": 0.49}},
            "summary.confidenceInterval.lower: it says 0.4900",
            id="interval",
        ),
        pytest.param("latency", {"p95Ms": 1.0}, "latency.p95Ms: it says 1.0000, but its items give 10.0000", id="p95"),
    ],
)
def test_figures_of_tasks_that_were_run_once_must_follow_from_the_items_too(
    make_report: MakeReport, make_item: MakeItem, tmp_path: Path, of: str, figures: dict[str, Any], message: str
) -> None:
    items = [make_item(status="pass", score=1.0, latencyMs=10.0), make_item("t2", latencyMs=10.0)]
    own: dict[str, Any] = {
        "summary": ONCE,
        "latency": dict.fromkeys(("p50Ms", "p95Ms", "p99Ms", "meanMs"), 10.0),
        "token_cost": dict.fromkeys(("promptTokens", "completionTokens", "totalTokens", "estimatedUSD")),
        "evaluatorMetadata": OF_THREE["evaluatorMetadata"],
        "taskResults": items,
    }
    read_reports(written(tmp_path, make_report(**own)))
    path = written(tmp_path, make_report(**own | {of: own[of] | figures}))
    with pytest.raises(InputError, match=re.escape(f"{path}: [0].{message}")):
        read_reports(path)


def test_another_program_defines_percentiles_and_the_composite_itself(
    make_report: MakeReport, three: list[dict[str, Any]], tmp_path: Path
) -> None:
    own = {"confidenceInterval": {"lower": 0.0, "upper": 1.0}, "consistencyScore": 1.0, "compositeScore": 0.99}
    latency = {"latency": {"p50Ms": 11.2, "p95Ms": 12.4, "p99Ms": 12.5, "meanMs": 3_007.5}}
    read_reports(written(tmp_path, make_report(taskResults=three, summary=WHOLE | own, **OF_THREE | latency)))


@pytest.mark.parametrize(
    ("figures", "message"),
    [
        pytest.param({"completionRate": 0.95}, "completionRate: it says 0.9500, but its counts give 0.3333 (1 of 3)", id="rate"),
        pytest.param({"items": 99}, "items: it says 99, but its counts give 3", id="items"),
        pytest.param({"judgedCompletionRate": 1.0}, "judgedCompletionRate: it says 1.0000, but its counts give 0.5", id="judged"),
        pytest.param({"missingItems": 3}, "judgedCompletionRate: it says 0.5000, but its counts give none", id="none-judged"),
        pytest.param({"compositeScore": 0.99}, "compositeScore: it says 0.9900, but its rates and its P95", id="composite"),
    ],
)
def test_without_items_the_counts_hold(make_report: MakeReport, tmp_path: Path, figures: dict[str, Any], message: str) -> None:
    read_reports(written(tmp_path, make_report(summary=WHOLE, **OF_THREE)))
    path = written(tmp_path, make_report(summary=WHOLE | figures, **OF_THREE))
    with pytest.raises(InputError, match=re.escape(f"{path}: [0].summary.{message}")):
        read_reports(path)


@pytest.mark.parametrize(
    "figures",
    [
        pytest.param({"completionRate": 0.333, "completionUpperBound": 0.667}, id="rounded"),
        pytest.param(dict.fromkeys(["items", "tasks", "counts", "missingItems", "forbiddenItems"]), id="of-an-earlier-version"),
        pytest.param({"confidenceInterval": {"lower": 0.1, "upper": 0.9, "method": "jeffreys"}}, id="another-method"),
        pytest.param({"partialScore": 0.9}, id="weights-of-tasks"),
    ],
)
def test_what_may_well_follow_from_the_items_is_read(
    make_report: MakeReport, three: list[dict[str, Any]], tmp_path: Path, figures: dict[str, Any]
) -> None:
    [found] = read_reports(written(tmp_path, make_report(taskResults=three, summary=WHOLE | figures, **OF_THREE)))
    assert len(found.task_results) == 3


def test_an_item_or_a_skill_that_is_there_twice_is_refused(
    make_report: MakeReport, three: list[dict[str, Any]], tmp_path: Path
) -> None:
    path = written(tmp_path, make_report(taskResults=[*three, three[1]]))
    with pytest.raises(InputError, match=re.escape("[0].taskResults[3]: run 1 of task 't1' is there twice: taskResults[1] is")):
        read_reports(path)
    path = written(tmp_path, make_report(), make_report(benchmarkId="others"), make_report())
    with pytest.raises(InputError, match=re.escape(f"{path}: [2]: echo@1.0.0 on words is there twice: [1] is its report, too")):
        read_reports(path)


def test_what_is_written_piece_by_piece_is_the_same_text(make_report: MakeReport, make_item: MakeItem) -> None:
    texts = [make_item(output={"taskResults": [], "line": "a\nb\u2028c\ud800"}), make_item(output=[])]
    reports = [make_report(taskResults=texts), make_report("empty")]
    data = [report.to_json() for report in ranked(reports)]
    assert render_reports(reports) == encodable(json.dumps(data, ensure_ascii=False, indent=2)) + "\n"
    assert "".join(parts([])) == "[]\n"
