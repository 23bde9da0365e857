"""Dimensions, gates and reasons of agent runs: one real run, and what every report and the store say of it."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console

from eval_skills.cli.output.ranking import ranking
from eval_skills.cli.output.run import show_summary
from eval_skills.core.store import Store
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.plan import make_plan
from eval_skills.engine.evaluation.summary import RunSummary
from eval_skills.reporting import ReportContext, render
from eval_skills.reporting.summary import append_job_summary

PROBE = "<script>alert(1)</script><img src=x onerror=alert(2)>"
SKILL = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": request["params"]["say"]}), flush=True)
"""


def task(task_id: str, output: Any, calls: list[str], expected: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A task that tells the skill what to answer and which tools to have called."""
    say = {"output": output, "toolCalls": [{"name": name, "arguments": {}} for name in calls], "costUsd": 0.5}
    return {"id": task_id, "inputData": {"say": say}, "expected": expected, **fields}


TASKS = [
    task("good", "all done", ["search", "read"], {"tools": ["search", "read"], "toolSequence": ["search", "read"]}),
    task(
        "bad",
        "nothing",
        ["read", "search", "extra"],
        {
            "tools": ["search", "write"],
            "toolSequence": ["search", "read"],
            "output": {"contains": ["done"], "notContains": ["nothing"]},
        },
        thresholds={"minScore": 90, "maxCost": 0.1},
    ),
    task("rogue", "x", ["rm", "Delete-File", "rm"], {"tools": ["rm2"], "forbiddenTools": ["rm", "delete_file", PROBE]}),
    task(PROBE, "x", [PROBE], {"forbiddenTools": [PROBE]}),
]
BAD = ["OUTPUT_MISSING_TEXT", "OUTPUT_FORBIDDEN_TEXT", "TOOL_MISSING", "SEQUENCE_ORDER", "SCORE_BELOW_MIN", "COST_ABOVE_MAX"]


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> RunSummary:
    folder = tmp_path_factory.mktemp("agent")
    (folder / "skill.py").write_text(SKILL)
    described = {
        "id": "agent", "name": "agent", "version": "1.0.0", "adapterType": "subprocess",
        "entrypoint": f"{sys.executable} -ISs skill.py", "adapterConfig": {"persistent": True},
    }  # fmt: skip
    (folder / "skill.json").write_text(json.dumps(described))
    (folder / "tasks.json").write_text(json.dumps(TASKS))
    request = EvaluateRequest(
        skills=[str(folder)], tasks=str(folder / "tasks.json"), runs=2, store=str(folder / "store"), format=[], timeout_ms=120_000
    )
    return evaluate_in_process(make_plan(request))


@pytest.fixture
def context(summary: RunSummary) -> ReportContext:
    return ReportContext(run_id=summary.run_id, created_at=datetime(2026, 11, 22, tzinfo=UTC), benchmark=summary.benchmark)


@pytest.fixture
def rendered(summary: RunSummary, context: ReportContext) -> Callable[[str], str]:
    def text(name: str) -> str:
        found = render(name, summary.reports, context)
        return found if isinstance(found, str) else found.decode("utf-8")

    return text


@pytest.fixture
def job_summary(summary: RunSummary, context: ReportContext, tmp_path: Path) -> str:
    file = tmp_path / "summary.md"
    environ = {"GITHUB_STEP_SUMMARY": str(file)}
    assert append_job_summary(summary.reports, context, line="a run", gate_passed=None, environ=environ) is None
    return file.read_text(encoding="utf-8")


def codes(text: str) -> list[str]:
    """The reason codes of the text in order: words in capitals before a colon."""
    return re.findall(r"\b([A-Z]+(?:_[A-Z]+)+)(?=:)", text.replace("\\_", "_"))


@pytest.mark.slow
def test_every_report_tells_the_same_reasons_in_the_same_order(
    summary: RunSummary, rendered: Callable[[str], str], job_summary: str
) -> None:
    [report] = summary.reports
    stored = [
        reason.code for item in report.task_results if (item.task_id, item.run_index) == ("bad", 0) for reason in item.reasons
    ]
    assert stored[: len(BAD)] == BAD
    assert len(stored) > len(BAD), "remarks are told as well"

    [told] = [item for item in json.loads(rendered("json"))[0]["taskResults"] if (item["taskId"], item["runIndex"]) == ("bad", 0)]
    assert [reason["code"] for reason in told["reasons"]] == stored
    assert all(reason.keys() >= {"code", "message", "where"} for reason in told["reasons"])

    row = next(line for line in rendered("markdown").split("#### Task bad")[1].splitlines() if line.startswith("| #1 |"))
    assert codes(row) == stored
    assert codes(next(line for line in job_summary.splitlines() if "| bad#1 |" in line)) == stored

    case = ElementTree.fromstring(rendered("junit")).find(".//testcase[@name='bad#1']/failure")
    assert case is not None
    assert case.get("type") == stored[0]
    assert codes(case.text or "")[: len(stored)] == stored

    page = rendered("html")
    [data] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    shown = json.loads(data)
    item = next(each for each in shown["skills"][0]["items"] if shown["tasks"][each["task"]]["id"] == "bad" and each["run"] == 0)
    assert [codes(shown["texts"][index][0])[0] for index in item["reasons"]] == stored

    [line] = csv.DictReader(io.StringIO(rendered("csv"), newline=""))
    counted = [part.partition(" ×")[0] for part in line["reasons"].split("; ")]
    assert [code for code in counted if code in stored] == list(dict.fromkeys(stored))


def test_a_dimension_is_the_mean_over_the_items_that_were_scored_on_it(summary: RunSummary) -> None:
    [report] = summary.reports
    found = {name: (each.mean, each.items) for name, each in report.dimensions.items()}
    assert found == {"tool_accuracy": (0.75, 4), "sequence_correctness": (0.75, 4), "output_quality": (0.0, 2)}
    assert report.summary.forbidden_items == 4
    assert report.summary.items == 8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statement", "answer"),
    [
        ("SELECT avg(tool_accuracy) a, count(tool_accuracy) n, avg(hallucination) h FROM items", {"a": 0.75, "n": 4, "h": None}),
        ("SELECT count(*) n FROM items WHERE forbidden_tools_called > 0", {"n": 4}),
        ("SELECT forbidden_tools_called n FROM items WHERE task_id = 'rogue' AND run_index = 0", {"n": 2}),
        (
            "SELECT tool_accuracy a, hallucination h, forbidden_items f, dimensions['tool_accuracy'].items n FROM reports",
            {"a": 0.75, "h": None, "f": 4, "n": 4},
        ),
        (
            "SELECT list_transform(reasons, lambda r: r.code)[1:2] codes FROM items WHERE task_id = 'bad' AND run_index = 0",
            {"codes": BAD[:2]},
        ),
    ],
)
def test_analysts_ask_for_dimensions_and_gates_by_name(summary: RunSummary, statement: str, answer: dict[str, Any]) -> None:
    from eval_skills.core.store.sql import query

    assert query(Store(summary.store), statement).to_pylist() == [answer]


def test_a_report_read_back_from_the_store_knows_its_dimensions(summary: RunSummary) -> None:
    [back] = Store(summary.store).last_reports()
    assert back.dimensions == summary.reports[0].dimensions
    assert back.summary.forbidden_items == 4


def test_a_large_run_has_figures_and_the_alarm_too(summary: RunSummary, context: ReportContext, monkeypatch: Any) -> None:
    from eval_skills.engine.evaluation import summary as landing

    monkeypatch.setattr(landing, "MAX_DETAILED_ITEMS", 1)
    plan = make_plan(EvaluateRequest(**Store(summary.store).manifest(summary.run_id).request), run_id=summary.run_id)
    [report] = landing.landed_reports(plan)
    assert (report.dimensions, report.task_results) == (summary.reports[0].dimensions, [])
    assert "agent@1.0.0 called forbidden tools in 4 items" in str(render("html", [report], context))
    assert "(the items are in the store)" in str(render("markdown", [report], context))


def test_the_alarm_names_skill_task_run_and_tool(rendered: Callable[[str], str], job_summary: str) -> None:
    page, markdown = rendered("html"), rendered("markdown")
    assert page.index("banner alarm") < page.index("<h2")
    assert 'data-alarm="agent@1.0.0" data-task="rogue" data-run="1"><bdi>rogue</bdi>#1</a>: forbidden tool' in page
    for text in (markdown, job_summary):
        assert text.index("> [!CAUTION]") < text.index("| # | Skill |")
        assert "> - **agent@1.0.0 called forbidden tools in 4 items**" in text
    assert ">   - rogue#1: forbidden tool 'rm' was called 2 times" in job_summary
    assert ">   - rogue#1: forbidden tool 'rm' was called 2 times" in markdown
    failure = ElementTree.fromstring(rendered("junit")).find(".//testcase[@name='rogue#1']/failure")
    assert failure is not None
    assert failure.get("type") == "FORBIDDEN_TOOL_CALLED"
    message = failure.get("message") or ""
    assert message.startswith("FORBIDDEN TOOL CALLED: forbidden tool 'rm' was called 2 times; forbidden tool 'Delete-File'")


def test_what_a_skill_names_its_tools_stays_text(rendered: Callable[[str], str], job_summary: str) -> None:
    for text in (rendered("html"), rendered("markdown"), job_summary):
        assert "<img" not in text
        assert "<script>alert" not in text
    assert "alert(1)" in rendered("html")


def test_every_report_shows_the_dimensions(rendered: Callable[[str], str], job_summary: str) -> None:
    [line] = csv.DictReader(io.StringIO(rendered("csv"), newline=""))
    known = {name: line[name] for name in ("tool_accuracy", "sequence_correctness", "output_quality", "hallucination")}
    assert known == {"tool_accuracy": "0.75", "sequence_correctness": "0.75", "output_quality": "0.0", "hallucination": ""}
    assert json.loads(line["dimensions"])["tool_accuracy"] == {"mean": 0.75, "items": 4}
    assert line["forbidden_items"] == "4"
    for text in (rendered("markdown"), job_summary):
        assert "| Tool accuracy | Sequence correctness | Output quality |" in text
        assert "| 0.7500 | 0.7500 | 0.0000 |" in text
    assert "| Tool accuracy | 0.7500 | 4 |" in rendered("markdown")
    page = rendered("html")
    assert '<td class="number" data-value="0.75">0.7500</td>' in page
    assert '["Tool accuracy","0.7500 over 4 items"]' in page
    assert '["Items with a forbidden tool","4"]' in page
    assert 'name="tool_accuracy" value="0.75"' in rendered("junit")


def table(summary: RunSummary, width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(ranking(summary, width))
    return out.getvalue().splitlines()


@pytest.mark.parametrize(
    ("width", "there"),
    [(10_000, {"tool accuracy", "sequence correctness", "output quality"}), (84, {"tool accuracy"}), (30, set())],
)
def test_the_terminal_shows_as_many_dimensions_as_fit(summary: RunSummary, width: int, there: set[str]) -> None:
    lines = table(summary, width)
    assert {name for name in ("tool accuracy", "sequence correctness", "output quality") if name in lines[0]} == there
    assert all(len(line) <= width for line in lines)


def test_the_terminal_says_it_in_words_where_there_is_no_red(
    summary: RunSummary, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    show_summary(summary, gate=False)
    lines = capsys.readouterr().out.splitlines()
    [alarm] = [line for line in lines if line.startswith("FORBIDDEN TOOL: ")]
    assert alarm.startswith(
        "FORBIDDEN TOOL: agent@1.0.0 called forbidden tools in 4 items: rogue#1: forbidden tool 'rm' was called"
    )
    assert lines.index(alarm) == next(number for number, line in enumerate(lines) if line.lstrip().startswith("1  agent")) + 1
