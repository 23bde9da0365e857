"""A finished run on the page of its CI job."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from eval_skills.cli.output.ranking import add_job_summary, set_step_outputs
from eval_skills.core.models import Benchmark, ItemResult
from eval_skills.core.store import table_of
from eval_skills.engine.evaluation.summary import RunSummary
from eval_skills.reporting.summary import VARIABLE


def summary(*, finished: int = 2) -> RunSummary:
    from eval_skills.core.metrics.reports import skill_reports

    benchmark = Benchmark.model_validate({"id": "b", "name": "B", "version": "1.0.0", "tasks": []})
    items = [
        ItemResult(
            run_id="20261121T233824Z-3f9a",
            started_at=datetime(2026, 11, 21, tzinfo=UTC),
            skill_id="s",
            skill_version="1.0.0",
            benchmark_id="b",
            benchmark_version="1.0.0",
            task_id=f"t{index}",
            run_index=0,
            status="pass" if passed else "fail",
            passed=passed,
            score=float(passed),
        )
        for index, passed in enumerate((True, False))
    ]
    reports = skill_reports(table_of(items).to_pandas(maps_as_pydicts="strict"), benchmark, 1_000)
    return RunSummary(
        run_id="20261121T233824Z-3f9a", line="the line", skills=[], benchmark=benchmark, reports=reports, planned=2,
        finished=finished, min_completion=0.7, store="s",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("gate", "finished", "says"),
    [
        pytest.param(False, 2, None, id="no-gate"),
        pytest.param(True, 2, "✘ **Gate failed:** s@1.0.0 completes 50.0 %; at least 70.0 % is asked for", id="gate"),
        pytest.param(False, 1, "**Partial:** 1 of 2 items finished", id="stopped-early"),
    ],
)
def test_a_run_is_appended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gate: bool, finished: int, says: str | None) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "summary.md"))
    add_job_summary(summary(finished=finished), gate=gate)
    text = (tmp_path / "summary.md").read_text()
    assert "the line (run 20261121T233824Z-3f9a)" in text
    assert "| 1 | s@1.0.0 | 50.0 % |" in text
    assert (says in text) if says else ("Gate" not in text)


def test_a_page_that_cannot_be_written_is_a_remark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    add_job_summary(summary(), gate=False)
    assert "the job summary cannot be written: Is a directory" in capsys.readouterr().err


def test_later_steps_learn_which_run_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "outputs"
    file.write_text("a=b\n")
    monkeypatch.setenv("GITHUB_OUTPUT", str(file))
    set_step_outputs(summary(), finished=False)
    assert file.read_text() == "a=b\nrun-id=20261121T233824Z-3f9a\nfinished=false\n"
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path))
    set_step_outputs(summary(), finished=True)
    assert "the step's outputs cannot be written: Is a directory" in capsys.readouterr().err
