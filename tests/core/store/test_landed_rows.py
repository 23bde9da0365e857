"""What lands beside the items."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from eval_skills.core.models import Ranking, SkillCompletionReport
from eval_skills.core.models.report import EarlierAttempts
from eval_skills.core.store import Manifest, Store, land_reports, write_manifest
from eval_skills.core.store.schema import REPORT_SCHEMA


def test_reports_land_beside_the_items(
    store: Store,
    run_id: str,
    make_report: Callable[..., SkillCompletionReport],
    make_manifest: Callable[..., Manifest],
) -> None:
    write_manifest(store.run_folder(run_id), make_manifest())
    path = land_reports(store, run_id, None, [make_report(), make_report(skill_version="1.1.0")])
    assert Path(path) == Path(store.path) / "reports" / "date=2026-11-21" / f"{run_id}.parquet"
    assert land_reports(store, run_id, None, [make_report(), make_report(skill_version="1.1.0")]) == path
    first, second = store.reports().to_dict("records")
    assert (first["skill_version"], second["skill_version"]) == ("1.0.0", "1.1.0")
    expected = {
        "run_id": run_id,
        "benchmark_version": "2.0.0",
        "completion_rate": 0.5,
        "ci_lower": 0.15,
        "ci_upper": 0.85,
        "ci_level": 0.95,
        "ci_method": "wilson",
        "pass_at_k": 0.5,
        "p95_ms": 20.0,
        "estimated_usd": 0.01,
        "total_tokens": 30,
        "items": 4,
        "passed_items": 2,
        "failed_items": 1,
        "error_items": 1,
        "timeout_items": 0,
        "throughput": 3.5,
        "origin": "run",
    }
    assert {name: first[name] for name in expected} == expected


RANKING = Ranking(
    rank=1, last_rank=3, ranked_skills=4, adjusted_p=0.5, probability_best=0.25, rank_lower=1, rank_upper=4,
    shrunk_completion_rate=0.45, pareto_optimal=True,
)  # fmt: skip


@pytest.mark.parametrize("ranking", [RANKING, RANKING.model_copy(update={"rank_lower": None, "adjusted_p": None}), None])
def test_the_last_report_has_its_ranking(
    store: Store, run_id: str, make_report: Callable[..., SkillCompletionReport], ranking: Ranking | None
) -> None:
    land_reports(store, run_id, None, [make_report(ranking=ranking)])
    (report,) = store.last_reports()
    assert report.ranking == ranking


def test_the_last_report_knows_of_how_many_items_the_cost_is_unknown(
    store: Store, run_id: str, make_report: Callable[..., SkillCompletionReport]
) -> None:
    known = make_report()
    earlier = EarlierAttempts(attempts=3, estimated_usd=0.5, total_tokens=None)
    unknown = {"cost_unknown_items": 2, "tokens_unknown_items": 1, "earlier_attempts": earlier}
    land_reports(store, run_id, None, [known.model_copy(update={"token_cost": known.token_cost.model_copy(update=unknown)})])
    (report,) = store.last_reports()
    assert (report.cost_unknown_items, report.tokens_unknown_items, report.whole_cost_usd) == (2, 1, None)
    [row] = store.tables.rows("reports", ["earlier_attempts", "earlier_cost_usd"])
    assert row == {"earlier_attempts": 3, "earlier_cost_usd": 0.5}
    assert report.token_cost.earlier_attempts is None


def test_reports_of_an_earlier_version_have_no_ranking(
    store: Store, run_id: str, make_report: Callable[..., SkillCompletionReport]
) -> None:
    path = land_reports(store, run_id, None, [make_report(ranking=RANKING)])
    table = pq.read_table(path, partitioning=None)
    pq.write_table(table.select(REPORT_SCHEMA.names[: REPORT_SCHEMA.names.index("missing_items")]), path)
    (store.layout.root / "digests.jsonl").unlink()  # an older version wrote none
    (report,) = store.last_reports()
    assert (report.ranking, report.summary.missing_items, report.summary.completion_rate) == (None, None, 0.5)


@pytest.mark.slow
def test_reports_without_a_manifest_have_no_benchmark_version(
    store: Store, run_id: str, make_report: Callable[..., SkillCompletionReport]
) -> None:
    land_reports(store, run_id, date(2026, 1, 2), [make_report()], origin="rescore")
    (row,) = store.query("SELECT date, benchmark_version, origin FROM reports").to_dict("records")
    assert (str(row["date"])[:10], row["origin"]) == ("2026-01-02", "rescore")
    assert row["benchmark_version"] is None or row["benchmark_version"] != row["benchmark_version"]
