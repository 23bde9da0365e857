"""The comment of a pull request: what it says, and that no text of others can do more than stand there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.core.errors import UsageError
from eval_skills.core.metrics.reports import skill_reports
from eval_skills.core.models import Benchmark, SkillCompletionReport
from eval_skills.engine.report_diff import compared
from eval_skills.engine.stored_runs.reports import ReportSource
from eval_skills.reporting import ReportContext
from eval_skills.reporting.pull_request import LIMIT, Comment, block, code, comment_of, page_of_run
from tests.tables import each_row

CONTEXT = ReportContext(run_id="20261121T233824Z-3f9a", created_at=datetime(2026, 11, 21, tzinfo=UTC))
HOSTILE = "@octocat closes #1 <img src=x> [a](http://evil.example) | `x` ``` GH-1\n</details>\n<!-- eval-skills-comment: b -->"


def reports_of(
    outcome: Mapping[str, str], *, task: str = "t", output: Any = "o", version: str = "1.0.0"
) -> list[SkillCompletionReport]:
    """For each skill its tasks in order, a letter each: p(ass) or f(ail)."""
    rows = [
        {
            "skill_id": skill, "skill_version": version, "task_id": f"{task}{index}", "run_index": 0,
            "status": "pass" if letter == "p" else "fail", "score": float(letter == "p"), "latency_ms": 10.0,
            "output": output,
        }
        for skill, letters in outcome.items()
        for index, letter in enumerate(letters)
    ]  # fmt: skip
    benchmark = Benchmark.model_validate({"id": "b", "name": "B", "version": "1.0.0", "tasks": []})
    return list(skill_reports(pd.DataFrame(rows), benchmark, 1_000))


def comment(
    before: list[SkillCompletionReport], after: list[SkillCompletionReport], context: ReportContext = CONTEXT, **rules: Any
) -> Comment:
    sides = [ReportSource(name, name, reports, context) for name, reports in (("main", before), ("branch", after))]
    return comment_of(after, context, compared=compared(*sides, **rules))


def without_code(body: str) -> str:
    """What GitHub reads as more than text: the comment without its fenced blocks and code spans."""
    body = re.sub(r"(?ms)^(`{3,})\n.*?\n\1$", "", body)
    return re.sub(r"(?s)(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", body)


@pytest.mark.slow
def test_what_got_worse_comes_first_and_the_gate_says_why() -> None:
    before, after = reports_of({"a": "p" * 8, "z": "p" * 7 + "f"}), reports_of({"a": "f" * 8, "z": "p" * 8})
    made = comment(before, after, fail_on="worse")
    assert made.conclusion == "failure"
    assert made.title == "✘ gate failed · 2 skills: 0 better, 1 worse, 0 equivalent, 1 inconclusive"
    rows = [line.split(" | ")[:3] for line in made.body.splitlines() if line.startswith("| `")]
    assert rows[0][:2] == ["| `a@1.0.0`", "**✘ worse**"]
    assert [row[2] for row in rows[2:]] == ["✘ worse"] * 8 + ["✔ better"]
    assert made.body.startswith("<!-- eval-skills-comment: b -->\n\n### ✘ gate failed")
    assert made.failures[0].startswith("a@1.0.0 is worse:")


@each_row(
    ("letters", "context", "fail_on", "conclusion"),
    [
        pytest.param("p" * 8, {}, "worse", "success", id="nothing-worse"),
        pytest.param("f" * 8, {}, None, "neutral", id="no-gate"),
        pytest.param("p" * 8, {"min_completion": 0.5}, None, "success", id="the-run-s-gate"),
        pytest.param("f" * 8, {"min_completion": 0.5}, None, "failure", id="below"),
        pytest.param("p" * 8, {"partial": (8, 9)}, None, "failure", id="unfinished"),
        pytest.param("p" * 8, {"min_completion": 0.5, "skipped": ("skipped s: bad",)}, None, "failure", id="unusable-skill"),
        pytest.param("p" * 8, {"skipped": ("skipped s: bad",)}, None, "neutral", id="unusable-without-a-gate"),
    ],
)
def test_the_conclusion_is_that_of_both_gates(letters: str, context: dict[str, Any], fail_on: Any, conclusion: str) -> None:
    reports = reports_of({"a": letters})
    assert comment(reports_of({"a": "p" * 8}), reports, replace(CONTEXT, **context), fail_on=fail_on).conclusion == conclusion
    if fail_on is None:
        assert comment_of(reports, replace(CONTEXT, **context)).conclusion == conclusion


def test_the_run_s_gate_fails_where_a_judge_failed() -> None:
    (report,) = reports_of({"a": "p" * 8})

    def of(**changes: Any) -> Comment:
        changed = report.model_copy(update={"summary": report.summary.model_copy(update=changes)})
        return comment_of([changed], replace(CONTEXT, min_completion=0.0))

    some, none = of(unjudged_items=3), of(missing_items=8, judged_completion_rate=None, completion_rate=0.0)
    assert (some.conclusion, some.failures) == ("failure", ["of a@1.0.0 not every item could be judged"])
    assert (none.conclusion, none.failures) == ("failure", ["a@1.0.0 has no item with a verdict"])
    assert comment_of([report], replace(CONTEXT, min_completion=0.0)).conclusion == "success"


def test_answers_and_failures_say_of_which_version_they_are() -> None:
    before, after = ([*reports_of({"a": each}), *reports_of({"a": each}, version="2.0.0")] for each in ("pp", "fp"))
    for made in (comment(before, after), comment_of(after, CONTEXT)):
        assert [made.body.count(f"of `{name}`") for name in ("a@1.0.0", "a@2.0.0", "a")] == [1, 1, 0]


def test_no_text_of_others_stands_outside_of_code() -> None:
    before = reports_of({HOSTILE: "p" * 8}, task=HOSTILE, output=HOSTILE)
    after = reports_of({HOSTILE: "f" * 8}, task=HOSTILE, output={"a": HOSTILE}, version=HOSTILE)
    for made in (comment(before, after, fail_on="worse"), comment_of(after, CONTEXT, remarks=[HOSTILE])):
        assert "octocat" in made.body
        read = without_code(made.body)
        assert not re.search(r"[@#]\w|octocat|evil|<img|GH-", read)
        assert read.count("<details>") == read.count("</details>")
        assert len(re.findall(r"<!--", read)) == 1
        assert re.search(r"[@#]\w|octocat", made.title) is None


def test_a_bar_in_a_name_is_escaped_in_tables_alone() -> None:
    before, after = reports_of({"a": "p" * 8}, task="won|"), reports_of({"a": "f" * 8}, task="won|")
    body = comment(before, after, fail_on="worse").body
    rows, others = (
        [line for line in body.splitlines() if "won" in line and line.startswith("|") is is_row] for is_row in (True, False)
    )
    assert [line.split()[1] for line in rows] == [f"`won\\|{run}`" for run in range(8)]
    assert "`won|0` of `a@1.0.0`" in others
    assert not any("\\|" in line for line in others)


@given(st.text(alphabet="`|\\ a\n@<", max_size=12))
def test_a_code_span_and_a_block_hold_any_text(text: str) -> None:
    assert without_code(f"x {code(text)} y") in ("x  y", "x *(blank)* y")
    assert without_code(f"x\n{block(text)}\ny") == "x\n\ny"


@pytest.mark.slow
def test_it_fits_whatever_is_compared() -> None:
    skills, task = {f"{number}{'😀|`' * 200}": "p" * 3 for number in range(60)}, "|😀" * 200
    before = reports_of(skills, task=task, output="😀" * 5_000)
    after = reports_of(dict.fromkeys(skills, "f" * 3), task=task, output="`" * 5_000, version="2" * 500)
    made = comment(before, after, fail_on="worse")
    assert len(made.body.encode("utf-16-le")) // 2 <= LIMIT
    read = without_code(made.body)
    assert "… and 10 more skills" in read
    assert "More was left out" in read
    assert read.count("<details>") == read.count("</details>")


@each_row("key", ["", "a b", "a--b", "-->", "x" * 65])
def test_a_key_that_could_end_the_hidden_line_is_refused(key: str) -> None:
    with pytest.raises(UsageError, match="--key"):
        comment_of(reports_of({"a": "p"}), CONTEXT, key=key)


def test_the_page_is_linked_only_if_it_is_one() -> None:
    environ = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "o/r", "GITHUB_RUN_ID": "5"}
    assert page_of_run(environ) == "https://github.com/o/r/actions/runs/5"
    assert page_of_run(environ | {"GITHUB_REPOSITORY": "o/r) [x](http://evil.example"}) is None
    assert page_of_run({}) is None
