"""The summary on the page of a CI job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting import ReportContext
from eval_skills.reporting.summary import FAILURES_SHOWN, MAX_BYTES, VARIABLE, append_job_summary

MakeReport = Callable[..., SkillCompletionReport]
MakeItem = Callable[..., dict[str, Any]]
LINE = "1 skill × 2 tasks × 1 run: 0 passed, 2 failed, 0 errors in 1.0 s"


def added(file: Path, context: ReportContext, *reports: SkillCompletionReport, gate: bool | None = None) -> str | None:
    return append_job_summary(reports, context, line=LINE, gate_passed=gate, environ={VARIABLE: str(file)})


@pytest.mark.parametrize("environ", [{}, {VARIABLE: ""}], ids=["unset", "empty"])
def test_without_the_variable_nothing_happens(context: ReportContext, environ: dict[str, str]) -> None:
    assert append_job_summary([], context, line=LINE, gate_passed=None, environ=environ) is None


def test_the_ranking_is_appended(make_report: MakeReport, context: ReportContext, tmp_path: Path) -> None:
    file = tmp_path / "summary.md"
    file.write_text("said before")
    assert added(file, context, make_report("a", summary={"completionRate": 0.5}), make_report("b")) is None
    text = file.read_text()
    assert text.startswith("said before\n## Skill evaluation on words@1.2.0\n\n")
    assert [line.split(" | ")[1:3] for line in text.splitlines() if line.startswith("| ")][1:] == [
        ["b@1.0.0", "85.0 %"],
        ["a@1.0.0", "50.0 %"],
    ]
    assert "Gate" not in text


@pytest.mark.parametrize(
    ("gate", "rate", "says"),
    [
        pytest.param(True, 0.85, "✔ **Gate passed:** every skill completes at least 70.0 %", id="passed"),
        pytest.param(False, 0.5, "✘ **Gate failed:** echo@1.0.0 completes 50.0 %; at least 70.0 % is asked for", id="failed"),
        pytest.param(False, 2099 / 3000, "completes 69.97 %; at least 70.0 % is asked for", id="hardly-under-it"),
        pytest.param(
            False, 0.85, "✘ **Gate failed:** not everything that was asked for could be evaluated", id="p40-not-evaluated"
        ),
    ],
)
def test_the_verdict_of_the_gate(
    make_report: MakeReport, context: ReportContext, tmp_path: Path, gate: bool, rate: float, says: str
) -> None:
    added(tmp_path / "s.md", replace(context, min_completion=0.7), make_report(summary={"completionRate": rate}), gate=gate)
    assert says in (tmp_path / "s.md").read_text()


def test_at_most_twenty_failures_are_shown(
    make_report: MakeReport, make_item: MakeItem, context: ReportContext, tmp_path: Path
) -> None:
    items = [make_item(f"t{index}", output="x" * 5000) for index in range(15)]
    added(tmp_path / "s.md", context, make_report("a", taskResults=items), make_report("b", taskResults=items))
    text = (tmp_path / "s.md").read_text()
    assert text.count("no reason was recorded") == FAILURES_SHOWN
    assert "… and 10 more failures in the report." in text
    assert len(text) < 20_000


def test_untrusted_text_stays_in_its_cell(
    make_report: MakeReport, make_item: MakeItem, context: ReportContext, tmp_path: Path
) -> None:
    hostile = "a|b\n</details><script>\x1b[31m\ud800"
    added(tmp_path / "s.md", context, make_report(taskResults=[make_item(hostile, output=hostile)]))
    row = next(line for line in (tmp_path / "s.md").read_text(encoding="utf-8").splitlines() if "a\\|b" in line)
    assert row.count("a\\|b⏎&lt;/details&gt;&lt;script&gt;\\\\u001b\\[31m\\\\ud800") == 2


@pytest.mark.parametrize(
    ("room", "shows", "remark"),
    [
        pytest.param(100_000, "Failures", None, id="all"),
        pytest.param(2_500, "… and 20 failures in the report.", "failures were left out", id="no-failures"),
        pytest.param(10, None, "no job summary was added", id="nothing"),
    ],
)
def test_the_file_stays_within_the_limit(
    make_report: MakeReport,
    make_item: MakeItem,
    context: ReportContext,
    tmp_path: Path,
    room: int,
    shows: str | None,
    remark: str | None,
) -> None:
    file = tmp_path / "s.md"
    file.write_bytes(b"x" * (MAX_BYTES - room))
    said = added(file, context, make_report(taskResults=[make_item(f"t{n}", output="y" * 200) for n in range(20)]))
    text = file.read_text()[MAX_BYTES - room :]
    assert file.stat().st_size <= MAX_BYTES
    assert (shows in text) if shows else not text
    assert (said is None) if remark is None else remark in str(said)


def test_a_file_that_cannot_be_written_is_a_remark(make_report: MakeReport, context: ReportContext, tmp_path: Path) -> None:
    assert "Is a directory" in str(added(tmp_path, context, make_report()))
