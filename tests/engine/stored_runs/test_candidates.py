"""What `select` chooses from."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from eval_skills.core.models import ItemResult, SkillCompletionReport
from eval_skills.core.store import Store, land_items, land_reports, started_at
from eval_skills.engine.stored_runs.candidates import load_reports, rank_candidates
from eval_skills.engine.stored_runs.reports import read_source
from eval_skills.reporting.context import ReportContext
from eval_skills.reporting.json_report import render
from tests.core.ranking.test_ranking import ALMOST, BAD, GOOD, ran
from tests.core.skills import skill

RUNS = {"20261121T233824Z-3f9a": {"a": GOOD, "other": GOOD}, "20261122T233824Z-3f9a": {"b": ALMOST, "c": BAD}}


@pytest.fixture
def store(tmp_path: Path) -> str:
    """Two runs of two skills each, on the same tasks."""
    made = Store(str(tmp_path / "store"))
    for run_id, skills in RUNS.items():
        reports = [ran(name, statuses) for name, statuses in skills.items()]
        land_reports(made, run_id, None, reports)
        land_items(made, run_id, [each for report in reports for each in items(run_id, report)])
    return made.path


def items(run_id: str, report: SkillCompletionReport) -> list[ItemResult]:
    return [
        ItemResult(
            run_id=run_id, skill_id=report.skill_id, skill_version="1.0.0", benchmark_id="b", benchmark_version="1.0.0",
            task_id=item.task_id, run_index=0, status=item.status, passed=item.passed, score=float(item.passed), latency_ms=1.0,
            started_at=datetime(2026, 11, 21, tzinfo=UTC), task_digest="1",
        )
        for item in report.task_results
    ]  # fmt: skip


def test_skills_of_several_runs_are_ranked_among_those_that_may_be_selected(store: str) -> None:
    candidates = [skill(name) for name in "abc"]
    ranked = rank_candidates(candidates, load_reports([], store), store)
    assert {report.skill_id: report.ranking and (report.ranking.rank, report.ranking.last_rank) for report in ranked} == {
        "a": (1, 2), "b": (1, 2), "c": (3, 3),
    }  # fmt: skip


def test_where_the_items_are_gone_nothing_is_ranked(store: str) -> None:
    for path in Path(store).glob("items/*/*.parquet"):
        path.unlink()
    ranked = rank_candidates([skill("a"), skill("b")], load_reports([], store), store)
    assert [report.ranking for report in ranked] == [None, None]


def test_of_several_files_the_run_that_began_last_counts_however_late_another_was_resumed(tmp_path: Path) -> None:
    paths = []
    for number, (run_id, statuses) in enumerate(zip(RUNS, (BAD, GOOD), strict=True)):
        resumed = ran("a", statuses).model_copy(update={"timestamp": datetime(2026, 12, 31 - number, tzinfo=UTC)})
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text(render([resumed], ReportContext(run_id=run_id, created_at=datetime.now(UTC))))
    (found,) = load_reports(paths, "unused")
    assert found.summary.completion_rate == ran("a", GOOD).summary.completion_rate
    assert read_source(str(paths[0]), "unused").context.created_at == started_at(next(iter(RUNS)))


def test_of_files_on_several_benchmarks_a_skills_newest_report_counts(tmp_path: Path) -> None:
    paths = []
    for run_id, benchmark, statuses in zip(RUNS, ("first", "second"), (GOOD, BAD), strict=True):
        paths.append(tmp_path / f"{benchmark}.json")
        reports = [ran("a", statuses).model_copy(update={"benchmark_id": benchmark})]
        paths[-1].write_text(render(reports, ReportContext(run_id=run_id, created_at=datetime.now(UTC))))
    (found,) = load_reports(paths, "unused")
    assert found.benchmark_id == "second"
