"""A comparison as a document."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from eval_skills.core.diff.diff import diff_reports
from eval_skills.core.diff.model import ReportDiff
from eval_skills.core.errors import UsageError
from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting.diff.report import (
    DIFF_FORMATS,
    FLIPS_SHOWN,
    DiffDocument,
    check_diff_formats,
    render_html,
    render_json,
    render_markdown,
)

MakeReport = Callable[..., SkillCompletionReport]
MakeItem = Callable[..., dict[str, Any]]
HOSTILE = "a|b\n<script>[x](y)\x1b\ud800"


@pytest.fixture
def document(make_report: MakeReport, make_item: MakeItem) -> Callable[..., DiffDocument]:
    def make(tasks: int = 8, answer: Any = "no", **fields: Any) -> DiffDocument:
        good = [make_item(f"t{index}", status="pass", output="yes") for index in range(tasks)]
        bad = [make_item(f"t{index}", output=answer) for index in range(tasks)]
        extra = [make_item("only", status="pass")]
        before = [make_report(taskResults=good + extra, summary={"completionRate": 1.0}), make_report("gone")]
        after = [make_report(taskResults=bad, summary={"completionRate": 0.0}), make_report("new")]
        return DiffDocument(**{"diff": diff_reports(before, after), "before": "main", "after": "branch", **fields})

    return make


def test_p48_markdown_shows_verdicts_marks_and_labels(document: Callable[..., DiffDocument]) -> None:
    text = render_markdown(document())
    assert "- Before: main\n- After: branch\n" in text
    assert "| echo@1.0.0 | **✘ worse** | 100.0 % | 0.0 % | -100.0 pp ↓ ✘ bad | 0.003906 |" in text
    assert "| new@1.0.0 | **added** | – | 85.0 % | –" in text
    assert "| gone@1.0.0 | **removed** | 85.0 % | – | –" in text
    assert "| completion | 100.0 % | 0.0 % | -100.0 pp | ↓ | ✘ bad |" in text
    assert "| t3 | ✘ worse | pass | yes | fail | no |" in text
    assert "- Tasks before only: only" in text


def test_markdown_names_ten_tasks_of_one_side_and_html_fifty(make_report: MakeReport, make_item: MakeItem) -> None:
    before = make_report(taskResults=[make_item("both"), *(make_item(f"t{number:02}") for number in range(60))])
    document = DiffDocument(diff=diff_reports([before], [make_report(taskResults=[make_item("both")])]), before="a", after="b")
    assert "- Tasks before only: t00, t01, t02, t03, t04, t05, t06, t07, t08, t09 and 50 more\n" in render_markdown(document)
    assert "t48, t49 and 10 more" in render_html(document)


def test_p49_markdown_explains_the_verdict(document: Callable[..., DiffDocument]) -> None:
    text = render_markdown(document())
    for name in ("mean difference", "sign-flip test", "floor", "correlation", "sensitivity"):
        assert f"| {name} | " in text


@pytest.mark.parametrize(
    ("failures", "says"),
    [(None, None), ([], "✔ **Gate passed:** no skill is worse"), (["x is worse"], "✘ **Gate failed:** x is worse")],
    ids=["no-gate", "passed", "failed"],
)
def test_the_gate_is_stated_where_there_is_one(
    document: Callable[..., DiffDocument], failures: list[str] | None, says: str | None
) -> None:
    text = render_markdown(document(failures=failures))
    assert (says in text) if says else ("Gate" not in text)


def test_flipped_tasks_are_bounded(document: Callable[..., DiffDocument]) -> None:
    text = render_markdown(document(FLIPS_SHOWN + 5, "x" * 10_000))
    assert text.count("| ✘ worse | pass") == FLIPS_SHOWN
    assert "… and 5 more in the JSON form." in text
    assert len(text) < 20_000


def test_untrusted_text_stays_text(document: Callable[..., DiffDocument]) -> None:
    text = render_markdown(document(answer=HOSTILE, before=HOSTILE, remarks=[HOSTILE], failures=[HOSTILE]))
    assert "<script>" not in text
    assert "\x1b" not in text
    assert text.encode()
    rows = [line for line in text.splitlines() if re.match(r"\| t\d", line)]
    assert [row.count(" | ") for row in rows] == [5] * 8


def test_nothing_to_compare_is_said() -> None:
    empty = DiffDocument(diff=diff_reports([], []), before="a", after="b")
    assert "There is nothing to compare." in render_markdown(empty)


def test_json_holds_the_whole_comparison(document: Callable[..., DiffDocument]) -> None:
    given = document(failures=["worse"], remarks=["note"])
    data = json.loads(render_json(given))
    assert data.pop("labels") == {"before": "main", "after": "branch"}
    assert data.pop("gate") == {"passed": False, "failures": ["worse"]}
    assert data.pop("remarks") == ["note"]
    assert data.pop("madeBy") == {"before": given.before_made_by, "after": given.after_made_by}
    assert ReportDiff.model_validate(data) == given.diff


def test_json_of_hostile_text_can_be_written(document: Callable[..., DiffDocument]) -> None:
    assert json.loads(render_json(document(answer=HOSTILE)).encode())["skills"][0]["flips"][0]["after"]["output"] == HOSTILE


@pytest.mark.parametrize(
    ("name", "hint"), [("markdwon", " (did you mean 'markdown'?)"), ("csv", "")], ids=["p65-near", "p65-of-reports-only"]
)
def test_p65_an_unknown_format_is_refused(name: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_diff_formats(["json", name])
    assert str(caught.value) == f"unknown format {name!r} of a comparison{hint}; valid are {', '.join(DIFF_FORMATS)}"
