"""The ranking as an artifact."""

from __future__ import annotations

from datetime import UTC, datetime

from eval_skills.core.ranking import rank_by_task_results
from eval_skills.reporting import ReportContext
from eval_skills.tasks.evaluation import ranking_rows
from tests.core.ranking.test_ranking import ALMOST, BAD, GOOD, ran

CONTEXT = ReportContext(run_id="r", created_at=datetime(2026, 1, 1, tzinfo=UTC))


def test_every_row_has_the_same_columns_and_its_shared_ranks() -> None:
    rows = ranking_rows(rank_by_task_results([ran("a", GOOD), ran("b", ALMOST), ran("c", BAD), ran("down", "i" * 20)]), CONTEXT)
    assert [row["#"] for row in rows][:3] == ["1–2", "1–2", "3"]
    assert len({tuple(row) for row in rows}) == 1
    assert {"corrected", "P(best)", "rank, 95 %", "Pareto"} <= rows[0].keys()


def test_a_skill_alone_is_not_ranked() -> None:
    (row,) = ranking_rows([ran("a", GOOD)], CONTEXT)
    assert row["#"] == "1"
    assert "P(best)" not in row
