"""The Markdown report: whole documents as snapshots, and text that cannot break out of its cell."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting import ReportContext, render
from eval_skills.reporting.escape import markdown
from eval_skills.reporting.markdown import FAILURES_SHOWN
from tests.tables import each_row

MakeReport = Callable[..., SkillCompletionReport]
MakeItem = Callable[..., dict[str, Any]]

SNAPSHOTS = Path(__file__).parent / "snapshots"
HOSTILE = (
    "<script>alert(1)</script> | `x` \n| a | b |\r\n## # [l](javascript:x)"
    " ![i](http://h/i.png) **b** _u_ &lt;i&gt; \\| \x00\u202e\ud800"
)


def matches_snapshot(name: str, text: str) -> None:
    """Compare with the golden file; with UPDATE_SNAPSHOTS=1 write it anew instead."""
    golden = SNAPSHOTS / name
    if os.environ.get("UPDATE_SNAPSHOTS") == "1":
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def parsed(text: str) -> list[Token]:
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)


def cells(text: str) -> list[list[str]]:
    """The rows of all tables, each a list of its cells' source."""
    rows: list[list[str]] = []
    tokens = parsed(text)
    for token, inner in pairwise(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("td_open", "th_open"):
            rows[-1].append("".join(child.content for child in inner.children or []))
    return rows


def visible(text: str) -> str:
    """What a reader should see of a text in one line."""
    text = re.sub(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", "⏎", text)
    unseen = (
        r"[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
        r"\U000e0000-\U000e007f]"
    )
    return re.sub(unseen, lambda found: ascii(found[0])[1:-1].replace("\\x", "\\u00"), text)


def judged(model: str, prompt: str, reason: str) -> dict[str, Any]:
    """What a report tells of a model that judged."""
    return {
        "items": 1, "judges": [{"model": model, "prompt": prompt, "items": 1, "calibration": None}],
        "correctedCompletion": None, "correctedReason": reason, "positionBias": [],
        "lengthBias": {"spearman": None, "items": 1, "rating": None, "reason": "few"},
    }  # fmt: skip


def foreign_markup(text: str) -> set[str]:
    """Kinds of tokens that only a skill's text could have brought in."""
    inline = [child for token in parsed(text) for child in token.children or []]
    ours = {"text", "text_special", "softbreak", "strong_open", "strong_close", "html_inline"}
    kinds = {token.type for token in inline} - ours
    kinds |= {token.content for token in inline if token.type == "html_inline" and token.content != "<br>"}
    return kinds | ({"html_block", "fence", "code_block", "hr", "blockquote_open"} & {token.type for token in parsed(text)})


@pytest.fixture
def full(make_report: MakeReport, make_item: MakeItem) -> list[SkillCompletionReport]:
    """Two skills: one with every kind of trouble, one with none."""
    wrong = [
        {"code": "NOT_EQUAL", "message": "expected 'x'", "where": "$.a"},
        {"code": "FORBIDDEN_TOOL", "message": "rm was called"},
    ]
    results = [
        make_item("t1", status="pass", score=1.0, costUsd=0.0123, promptTokens=1200, completionTokens=34),
        make_item("t1", runIndex=1, reasons=wrong, expected="x", output={"a": ["y", None]}),
        make_item("t2", status="error", score=None, errorKind="infra", errorMessage="connection refused"),
        make_item("t2", runIndex=1, status="timeout", score=None, errorMessage="no answer within 30000 ms"),
    ]
    tags = {"easy": {"completionRate": 0.5, "items": 4, "tasks": 2, "confidenceInterval": {"lower": 0.1, "upper": 0.9}}}
    summary: dict[str, Any] = {"completionRate": 0.25, "errorRate": 0.5, "flakeRate": 0.5, "items": 4, "tasks": 2, "runs": 2}
    summary |= {"confidenceInterval": {"lower": 0.0456, "upper": 0.6994, "method": "wilson_effective"}}
    summary |= {"counts": {"pass": 1, "fail": 1, "error": 1, "timeout": 1}}
    troubled = make_report(
        "troubled_skill", summary=summary, taskResults=results, byTag=tags, token_cost={"estimatedUSD": 0.0123}
    )
    perfect = {"completionRate": 1.0, "errorRate": 0.0, "confidenceInterval": {"lower": 0.2065, "upper": 1.0, "method": "wilson"}}
    return [troubled, make_report("sound", summary=perfect, taskResults=[make_item(status="pass", score=1.0)])]


def test_the_whole_report(full: list[SkillCompletionReport], context: ReportContext) -> None:
    gated = replace(context, min_completion=0.7, ranks={"sound@1.0.0": 1}, partial=(5, 8))
    matches_snapshot("full.md", str(render("markdown", full, gated)))


def test_a_rate_hardly_under_the_gate_is_seen_to_be(make_report: MakeReport, context: ReportContext) -> None:
    text = str(render("markdown", [make_report(summary={"completionRate": 2099 / 3000})], replace(context, min_completion=0.7)))
    assert "completion of at least 70.0 %" in text
    assert "**69.97 %**" in text


def test_the_report_of_one_skill_without_gate_or_selection(make_report: MakeReport, context: ReportContext) -> None:
    matches_snapshot("plain.md", str(render("markdown", [make_report()], replace(context, benchmark=None))))


def test_a_gate_of_less_than_was_asked_for_has_not_passed(make_report: MakeReport, context: ReportContext) -> None:
    whole = replace(context, min_completion=0.5)
    lacking = str(render("markdown", [make_report()], replace(whole, skipped=("skipped s: not valid JSON",))))
    assert "met by 1 of 1 skill; it has not passed, since not everything that was asked for was evaluated\n" in lacking
    assert "- skipped s: not valid JSON\n" in lacking
    assert "met by 1 of 1 skill\n" in str(render("markdown", [make_report()], whole))


def test_the_report_of_nothing_says_so(context: ReportContext) -> None:
    assert "No skill was evaluated." in str(render("markdown", [], context))


def test_p31_completion_stands_before_the_composite(full: list[SkillCompletionReport], context: ReportContext) -> None:
    header, first, second = cells(str(render("markdown", full, context)))[:3]
    assert header.index("Completion") < header.index("Composite")
    assert (first[1], second[1]) == ("sound@1.0.0", "troubled_skill@1.0.0")


def test_p38_unknown_cost_is_a_dash_and_never_zero(make_report: MakeReport, context: ReportContext) -> None:
    assert cells(str(render("markdown", [make_report()], context)))[1][-1] == "–"


def test_p43_reasons_stand_in_their_stored_order(make_report: MakeReport, make_item: MakeItem, context: ReportContext) -> None:
    codes = ["Z_LAST", "A_FIRST", "M_MIDDLE"]
    item = make_item(reasons=[{"code": code, "message": "m"} for code in codes])
    text = str(render("markdown", [make_report(taskResults=[item])], context))
    assert re.findall(r"[A-Z]+_[A-Z]+(?=: m)", text) == codes


def test_p69_reasons_errors_and_intervals_are_shown(full: list[SkillCompletionReport], context: ReportContext) -> None:
    text = str(render("markdown", full, context))
    reason = "NOT_EQUAL: expected 'x' (at $.a)".replace("$", "\\$")
    for shown in (reason, "infra: connection refused", "4.6 to 69.9 %", "Wilson's"):
        assert shown in text


@pytest.mark.parametrize(
    ("failed", "remark"),
    [
        pytest.param(FAILURES_SHOWN, None, id="all-shown"),
        pytest.param(FAILURES_SHOWN + 7, "… and 7 more in the JSON report", id="cut"),
    ],
)
def test_what_is_left_out_is_said(
    make_report: MakeReport, make_item: MakeItem, context: ReportContext, failed: int, remark: str | None
) -> None:
    report = make_report(taskResults=[make_item(f"task{number}") for number in range(failed)])
    text = str(render("markdown", [report], context))
    assert text.count("#### Task ") == FAILURES_SHOWN
    assert (remark in text) if remark else ("more in the JSON report" not in text)


def test_each_complexity_has_a_row_as_each_tag_has(make_report: MakeReport, context: ReportContext) -> None:
    group = {"completionRate": 0.5, "items": 4, "tasks": 2, "errorRate": 0.25, "partialScore": 0.75}
    text = str(render("markdown", [make_report(byComplexity={"simple": group, "very_complex": group})], context))
    assert "### By complexity" in text
    assert "### By tag" not in text
    shown = ["2", "4", "50.0 %", "–", "0.7500", "25.0 %"]
    rows = [row for row in cells(text) if row[0] in {"Complexity", "simple", "very_complex"}]
    assert rows[1:] == [["simple", *shown], ["very_complex", *shown]]


def test_a_long_answer_says_how_much_is_missing(make_report: MakeReport, make_item: MakeItem, context: ReportContext) -> None:
    text = str(render("markdown", [make_report(taskResults=[make_item(output="x" * 1000)])], context))
    assert "… (700 more characters)" in text
    assert "x" * 301 not in text


@pytest.mark.slow
@each_row(
    "place",
    ["skill", "task", "message", "code", "answer", "expected", "tag", "complexity", "error", "title", "method", "judge", "prompt",
     "corrected"],
)  # fmt: skip
def test_p68_hostile_text_stays_text_wherever_it_stands(
    make_report: MakeReport, make_item: MakeItem, context: ReportContext, place: str
) -> None:
    def rendered(text: str) -> str:
        def at(name: str, otherwise: str) -> str:
            return text if place == name else otherwise

        items = [
            make_item(
                at("task", "t"), reasons=[{"code": at("code", "C"), "message": at("message", "m")}], output=[at("answer", "a")]
            ),
            make_item(at("task", "t"), runIndex=1, status="error", errorKind="skill", errorMessage=at("error", "e"), score=None),
            make_item(at("task", "t"), runIndex=2, status="pass", expected=at("expected", "e")),
        ]
        report = make_report(
            at("skill", "s"),
            taskResults=items,
            byTag={at("tag", "g"): {"completionRate": 1.0, "items": 1, "tasks": 1}},
            byComplexity={at("complexity", "g"): {"completionRate": 1.0, "items": 1, "tasks": 1}},
            evaluatorMetadata={"judge": judged(at("judge", "j"), at("prompt", "p"), at("corrected", "c"))},
            summary={"confidenceInterval": {"lower": 0.1, "upper": 0.9, "method": at("method", "wilson")}},
        )
        return str(render("markdown", [report], replace(context, title=at("title", "T"))))

    tame, hostile = rendered("tame"), rendered(HOSTILE)
    assert foreign_markup(hostile) == set()
    assert [token.type for token in parsed(hostile)] == [token.type for token in parsed(tame)]
    assert [len(row) for row in cells(hostile)] == [len(row) for row in cells(tame)]
    hostile.encode("utf-8")


@pytest.mark.slow
@given(st.text(alphabet=st.one_of(st.sampled_from("|\\`*_[]<>&#~$!()-+=: \n\r\t"), st.characters(codec="utf-8")), max_size=40))
@example("\\|")
@example("a\\")
@example("_a_ __init__ snake_case")
@example("soft\xad zero\u200b arabic\u061c tag\U000e0041 joined\u200d")
def test_p68_any_text_is_one_cell_that_reads_as_it_was(text: str) -> None:
    document = f"| a | b |\n|:--|:--|\n| {markdown(text)} | end |\n"
    assert foreign_markup(document) == set()
    _, (cell, end) = cells(document)
    assert end == "end"
    assert cell.strip() == visible(text).strip()


@given(st.text(alphabet=st.one_of(st.sampled_from("#=-*+>.1|\\` \n\t<"), st.characters(codec="utf-8")), max_size=20))
@example("a #")
@example("#")
@example("a ## ")
def test_any_text_is_one_heading(text: str) -> None:
    tokens = parsed(f"## 1. {markdown(text)}\n\nnext\n")
    assert [token.type for token in tokens] == [
        "heading_open",
        "inline",
        "heading_close",
        "paragraph_open",
        "inline",
        "paragraph_close",
    ]
    shown = "".join(child.content for child in tokens[1].children or [])
    assert shown.split() == f"1. {visible(text)}".split()
