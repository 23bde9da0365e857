"""What reports show of judging, of figures that are all known; tests/tasks/test_judged_reports.py has real runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.judging.pairs import Preference
from eval_skills.core.judging.preferences import position_bias
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.statistics.agreement import Estimate
from eval_skills.reporting import ReportContext, render
from eval_skills.reporting.html.payload import payload
from eval_skills.reporting.judging import (
    LENGTH_NOTE,
    estimate_number,
    figures_in,
    judges_table,
    judging_line,
    judging_notes,
    position_line,
    skills_table,
)
from eval_skills.reporting.summary import VARIABLE, append_job_summary

MakeReport = Callable[..., SkillCompletionReport]


def estimate(value: float) -> dict[str, Any]:
    return {"value": value, "lower": value - 0.1, "upper": value + 0.1, "level": 0.95, "method": "m"}


def judge(model: str = "openai/one", **more: Any) -> dict[str, Any]:
    return {"model": model, "prompt": "llm_judge 1, prompt 1", "items": 4, "calibration": None, **more}


@pytest.fixture
def judged(make_report: MakeReport) -> Callable[..., SkillCompletionReport]:
    """A report that models judged; `told` is said of them, `paid` are what they were paid."""

    def make(skill: str = "echo", *, told: dict[str, Any] | None = None, **paid: Any) -> SkillCompletionReport:
        figures = {
            "items": 4, "judges": [judge()], "correctedCompletion": None, "correctedReason": "nobody knows it",
            "lengthBias": {"spearman": -0.4567, "items": 4, "rating": "strong", "reason": None}, "positionBias": [],
            **(told or {}),
        }  # fmt: skip
        return make_report(skill, token_cost=paid, evaluatorMetadata={"judge": figures})

    return make


def test_a_report_of_another_version_without_the_newer_figures_is_read(judged: Any) -> None:
    found = figures_in(judged())
    assert found is not None
    assert (found.unjudged, found.cached, found.judges[0].tokens) == (None, None, None)
    for table in (skills_table([("echo", judged())]), judges_table(judged())):
        assert table is not None
        assert table.rows[0][1]["Not judged"].text == "–", "what such a report does not say is not 0"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        pytest.param(0.7049, "0.70", id="some"),
        pytest.param(399 / 400, "0.998", id="all-but-one"),
        pytest.param(2e-5, "0.0000", id="no-more-than-four-decimals"),
        pytest.param(-0.999, "-0.999", id="hardly-the-opposite"),
        pytest.param(1.0 - 1e-12, "1.00", id="all-but-for-binary-fractions"),
        pytest.param(-0.0, "0.00", id="none"),
    ],
)
def test_an_estimate_is_all_or_nothing_only_where_it_is(value: float, shown: str) -> None:
    assert estimate_number(Estimate(value=value, lower=value, upper=1.0, level=0.95, method="m")) == f"{shown} [{shown}, 1.00]"


@pytest.mark.parametrize(
    "told", [pytest.param({}, id="an-older-version"), pytest.param({"judges": "?"}, id="nobody-knows-by-whom")]
)
def test_what_the_summary_knows_of_failures_is_told(judged: Any, told: dict[str, Any]) -> None:
    report = judged(told=told, judgeTokens=5)
    report = report.model_copy(update={"summary": report.summary.model_copy(update={"unjudged_items": 2})})
    table = skills_table([("echo", report)])
    assert table is not None
    assert table.rows[0][1]["Not judged"].value == 2
    assert "2 not judged" in (judging_line(report) or "")


@pytest.mark.parametrize(
    ("usd", "shown"),
    [
        pytest.param(None, "unknown", id="p38-unknown"),
        pytest.param(0.0, "$0.00", id="cached"),
        pytest.param(1e-9, "$0.000000001", id="a-thousand-millionth"),
        pytest.param(1e-15, "$1.0e-15", id="less-than-can-be-written-out"),
        pytest.param(1000.0, "$1,000.00", id="a-thousand"),
    ],
)
def test_cost_in_every_report(judged: Any, context: ReportContext, tmp_path: Path, usd: float | None, shown: str) -> None:
    report = judged(judgeTokens=1234, judgeUSD=usd)
    markdown = str(render("markdown", [report], context))
    assert f"| Tokens of judging | 1,234 |\n| Cost of judging | {shown} |" in markdown
    assert f"| 1,234 | {shown} |" in markdown
    assert f">{shown}</td>" in str(render("html", [report], context))
    assert ["Cost of judging", shown] in [list(each) for each in payload([report], context)["skills"][0]["figures"]]
    append_job_summary([report], context, line="", gate_passed=None, environ={VARIABLE: str(tmp_path / "s.md")})
    assert f"| 1,234 | {shown} |" in (tmp_path / "s.md").read_text()


def test_columns_that_nobody_has_a_value_for_are_left_out(judged: Any) -> None:
    plain = skills_table([("a", judged())])
    assert plain is not None
    assert list(plain.heads) == [
        "Judged by", "Judged", "Not judged", "From cache", "Tokens", "Cost", "Length bias", "Completion",
    ]  # fmt: skip
    full = skills_table([("a", judged()), ("b", judged(told={"agreement": 0.5, "correctedCompletion": estimate(0.7)}))])
    assert full is not None
    assert [cells["Agreement"].text for _, cells in full.rows] == ["–", "50.0 %"]
    assert [cells["Judge-corrected"].line for _, cells in full.rows] == ["–", "70.0 % (60.0 to 80.0 %)"]


def test_the_completion_of_a_skill_of_which_nothing_was_judged_is_unknown_there_too(judged: Any) -> None:
    report = judged()
    nothing = {"missing_items": 4, "judged_completion_rate": None, "completion_rate": 0.0}
    report = report.model_copy(update={"summary": report.summary.model_copy(update=nothing)})
    table = skills_table([("a", report)])
    assert table is not None
    assert table.rows[0][1]["Completion"].text == "–"


def test_a_model_that_two_scorers_ask_is_named_once(judged: Any) -> None:
    table = skills_table([("a", judged(told={"judges": [judge("openai/a"), judge("openai/a"), judge("openai/b")]}))])
    assert table is not None
    assert table.rows[0][1]["Judged by"].text == "openai/a; openai/b"


def test_the_length_bias_comes_with_one_sentence_that_gives_its_range(judged: Any, context: ReportContext) -> None:
    for name in ("markdown", "html"):
        text = str(render(name, [judged()], context)).replace("&#39;", "'")
        assert text.count(LENGTH_NOTE) == 1
    assert "from −1 to 1" in LENGTH_NOTE
    table = skills_table([("a", judged())])
    assert table is not None
    assert table.rows[0][1]["Length bias"].line == "−0.46 (strong)"
    assert "- Length bias: −0.46 (strong) over 4 items." in str(render("markdown", [judged()], context))


@pytest.mark.parametrize("rho", [-0.001, 0.0, 0.001])
def test_nothing_is_no_negative_zero(judged: Any, rho: float) -> None:
    table = skills_table([("a", judged(told={"lengthBias": {"spearman": rho, "items": 4, "rating": "good", "reason": None}}))])
    assert table is not None
    assert table.rows[0][1]["Length bias"].text == "0.00"


def test_a_calibrated_judge_stands_with_its_agreement_with_people(judged: Any, context: ReportContext) -> None:
    facts = {"calibratedAt": "2026-11-22T00:00:00Z", "labels": 40, "unjudged": 15} | {
        name: estimate(0.8) for name in ("accuracy", "kappa", "sensitivity", "specificity")
    }
    report = judged(told={"judges": [judge("openai/b"), judge("openai/a", calibration=facts)]})
    table = judges_table(report)
    assert table is not None
    assert [(name, cells["Kappa"].text) for name, cells in table.rows] == [("openai/b", "–"), ("openai/a", "0.80 [0.70, 0.90]")]
    assert (
        "| openai/a | llm_judge 1, prompt 1 | 4 | – | – | unknown | unknown | 40 (15 more not judged) | 0.80 [0.70, 0.90] |"
        in str(render("markdown", [report], context))
    )
    told = payload([report], context)["skills"][0]["judging"]
    assert [title for title, _ in told["heads"]][-4:] == ["Labels", "Kappa", "Sensitivity", "Specificity"]
    assert {len(row) for row in told["rows"]} == {len(told["heads"])}


def test_the_corrected_rate_stands_beside_the_raw_one(judged: Any, context: ReportContext) -> None:
    facts = {"calibratedAt": "2026-11-22T00:00:00Z", "labels": 40, "unjudged": 15} | {
        name: estimate(0.8) for name in ("accuracy", "kappa", "sensitivity", "specificity")
    }
    told = {"correctedCompletion": estimate(0.7), "correctedReason": None, "judges": [judge("openai/a", calibration=facts)]}
    report = judged(told=told)
    assert "| Completion | 85.0 % (62.1 to 96.8 %) |\n| Judge-corrected completion | 70.0 % (60.0 to 80.0 %) |" in str(
        render("markdown", [report], context)
    )
    [note] = [note for note in judging_notes(report) if note.startswith("Judge-corrected completion")]
    assert note.endswith("; 15 labels of answers that the judge did not judge not counted.")
    names = [name for name, _ in payload([report], context)["skills"][0]["figures"]]
    assert names[:2] == ["Completion", "Judge-corrected completion"]


def test_claims_that_a_model_judged_cost_something_whoever_scored(make_report: MakeReport, context: ReportContext) -> None:
    report = make_report(token_cost={"judgeTokens": 50, "judgeUSD": None})
    assert judges_table(report) is None
    text = str(render("markdown", [report, make_report("other")], context))
    assert "| echo@1.0.0 | – | – | – | – | 50 | unknown | – | 85.0 % |" in text
    assert text.count("Cost of judging") == 1
    assert "### Judges" not in text


def test_where_all_verdicts_are_ties_no_position_has_won() -> None:
    bias = position_bias([Preference("t", "tie", "tie", "tie")])
    assert bias is not None
    assert position_line(bias) == (
        "position of the answer: no verdict was for one of them; both orders agree on 100.0 % of 1 pair; p = 1"
    )
