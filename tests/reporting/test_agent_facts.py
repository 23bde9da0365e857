"""What reports of agent runs and of streams say: calls of failed items, the gate, the time to the first token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.reporting import ReportContext, render
from eval_skills.reporting.sections import calls_line
from eval_skills.reporting.summary import VARIABLE, append_job_summary

MakeReport = Callable[..., SkillCompletionReport]
MakeItem = Callable[..., dict[str, Any]]
CALLED = [{"name": "search", "arguments": {"q": "Bern"}}, {"name": "rm", "error": "refused"}]


def line_of(item: dict[str, Any]) -> str | None:
    return calls_line(TaskResult.model_validate(item))


def test_the_calls_of_an_item_are_one_line_by_the_index_that_reasons_use(make_item: MakeItem) -> None:
    assert line_of(make_item(toolCalls=CALLED)) == '[0] search {"q": "Bern"}; [1] rm failed: refused'
    assert line_of(make_item()) is None


def test_the_line_is_bounded(make_item: MakeItem) -> None:
    line = line_of(make_item(toolCalls=[{"name": "n" * 999, "arguments": "x" * 9_999}] * 13))
    assert line is not None
    assert line.count("] n") == 10
    assert line.endswith("; and 3 more")
    assert len(line) < 3_000


def test_markdown_and_junit_tell_the_calls_of_failed_items(
    make_report: MakeReport, make_item: MakeItem, context: ReportContext
) -> None:
    reports = [make_report(taskResults=[make_item(toolCalls=CALLED)])]
    markdown = str(render("markdown", reports, context))
    assert "| Answer | Calls |" in markdown
    assert "\\[1] rm failed: refused |" in markdown
    junit = render("junit", reports, context)
    text = junit if isinstance(junit, str) else junit.decode()
    assert 'calls: [0] search {"q": "Bern"}; [1] rm failed: refused' in text
    assert "Calls" not in str(render("markdown", [make_report(taskResults=[make_item()])], context))


def test_json_has_the_calls_and_says_nothing_of_them_where_there_are_none(make_item: MakeItem) -> None:
    item = TaskResult.model_validate(make_item(toolCalls=CALLED, timeToFirstTokenMs=3.5)).to_json()
    assert item["toolCalls"][1]["error"] == "refused"
    assert item["timeToFirstTokenMs"] == 3.5
    assert not {"toolCalls", "messages", "timeToFirstTokenMs"} & TaskResult.model_validate(make_item()).to_json().keys()


def test_the_time_to_the_first_token_stands_beside_the_latency_where_it_is_known(
    make_report: MakeReport, context: ReportContext
) -> None:
    streamed, whole = make_report("streamed", latency={"timeToFirstTokenP50Ms": 12.5}), make_report("whole")
    assert '"timeToFirstTokenP50Ms": 12.5' in str(render("json", [streamed], context))
    for name in ("markdown", "html"):
        assert "12.5 ms" in str(render(name, [streamed, whole], context))
    assert "First token" not in str(render("markdown", [whole], context))
    assert ">First token<" not in str(render("html", [whole], context))


def test_a_forbidden_call_misses_the_gate_in_every_report(
    make_report: MakeReport, context: ReportContext, tmp_path: Path
) -> None:
    rogue = make_report("rogue", summary={"completionRate": 1.0, "forbiddenItems": 1})
    gated = replace(context, min_completion=0.7)
    assert gated.meets_gate(rogue) is False
    assert gated.completes(rogue) is True
    assert "Gate missed." in str(render("html", [rogue], gated))
    assert "met by 0 of 1 skill\n" in str(render("markdown", [rogue], gated))
    environ = {VARIABLE: str(tmp_path / "summary.md")}
    append_job_summary([rogue], gated, line="a run", gate_passed=False, environ=environ)
    assert "✘ **Gate failed:** rogue@1.0.0 called forbidden tools." in (tmp_path / "summary.md").read_text()


@pytest.mark.parametrize(
    ("summary", "items", "completes"),
    [
        pytest.param({"unjudgedItems": 3, "missingItems": 3, "judgedCompletionRate": 1.0}, [], True, id="some-not-judged"),
        pytest.param({}, [{"status": "error", "passed": False, "errorKind": "simulator"}], True, id="its-user-failed"),
        pytest.param({"missingItems": 8, "unjudgedItems": 8}, [], False, id="nothing-judged"),
    ],
)
def test_no_report_says_that_a_gate_is_met_where_models_failed(
    summary: dict[str, Any],
    items: list[dict[str, Any]],
    completes: bool,
    make_report: MakeReport,
    make_item: MakeItem,
    context: ReportContext,
) -> None:
    open_ = make_report("open", summary=summary, taskResults=[make_item(**item) for item in items])
    gated = replace(context, min_completion=0.0)
    assert (gated.meets_gate(open_), gated.completes(open_)) == (False, completes)
    said = "met by 1 of 2 skills; open@1.0.0 cannot meet it, since models failed that judge items or play their users\n"
    assert said in str(render("markdown", [open_, make_report("sound")], gated))
    page = str(render("html", [open_], gated))
    assert "Gate missed." in page
    assert "open@1.0.0 cannot meet it, since models failed" in page


def test_an_unknown_latency_is_one_dash(make_report: MakeReport, context: ReportContext) -> None:
    unknown = make_report(latency=dict.fromkeys(("p50Ms", "p95Ms", "p99Ms", "meanMs")))
    assert "| Latency P50, P95, P99, mean | – |" in str(render("markdown", [unknown], context))
