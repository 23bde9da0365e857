"""Past reports are rebuilt period by period from stored items: once, whole, and without changing what is stored."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.core.store import Store, land_reports
from tests.engine.backfill.backfills import DAY, RIGHT, START, TASKS, WRONG, Days, backfill, content, shown

if TYPE_CHECKING:
    from tests.engine.evaluations import LandedRun, WriteExpectations


@pytest.mark.slow
def test_each_day_is_compared_with_the_one_before_paired_by_task(store: Store, days: Days) -> None:
    first, second, third = days(RIGHT, WRONG, WRONG)
    summary = backfill(store)
    assert shown(summary) == [
        ("2026-03-01", 1.0, None, None),
        ("2026-03-02", 0.0, -1.0, "worse"),
        ("2026-03-03", 0.0, 0.0, "inconclusive"),  # eight tasks that do not differ prove no equality
    ]
    worse = summary.rows[1]
    assert (worse["run_id"], worse["before_run_id"], worse["tasks"]) == (second, first, 8)
    assert worse["adjusted_p"] == pytest.approx(1 / 2**8)
    assert summary.rows[2]["run_id"] == third
    assert summary.line == "recompute: 3 periods; 1 worse, 1 inconclusive"


@pytest.mark.slow
def test_the_change_is_that_of_the_tasks_of_both_days(store: Store, days: Days) -> None:
    half = dict.fromkeys(TASKS[:4], "right")
    days(WRONG | half, half, dict.fromkeys(TASKS[4:], "right"))
    assert shown(backfill(store)) == [
        ("2026-03-01", 0.5, None, None),
        ("2026-03-02", 1.0, 0.0, "inconclusive"),  # the four that went wrong did not run
        ("2026-03-03", 1.0, None, "inconclusive"),  # other tasks
    ]


@pytest.mark.slow
def test_tasks_that_changed_or_are_judged_otherwise_enter_no_verdict(
    store: Store, landed_run: LandedRun, write_expectations: WriteExpectations
) -> None:
    landed_run(RIGHT, at=START)
    write_expectations(**RIGHT | {"t0": "left"})
    landed_run(RIGHT | {"t0": "wrong"}, at=START + DAY, scoring_digest="of a scorer")
    landed_run(WRONG, at=START + 2 * DAY, scoring_digest="of another scorer")
    changed, otherwise = backfill(store).rows[1:]
    assert (changed["tasks"], changed["mean_difference"], changed["completion_delta"]) == (7, 0, 0)
    assert (otherwise["verdict"], otherwise.get("tasks"), otherwise["completion_delta"]) == ("inconclusive", None, None)
    assert otherwise["explanation"].startswith("not comparable: other scorers")


@pytest.mark.slow
def test_runs_whose_items_were_deleted_are_left_out_and_counted(store: Store, days: Days) -> None:
    first, _ = days(RIGHT, RIGHT)
    Path(store.tables.files("items")[first]).unlink()
    said = "1 run left out: the items were deleted, and only reports are left"
    assert said in backfill(store).remarks
    with pytest.raises(UsageError, match=f"no run of the store .* is from this time; .*; {said}"):
        backfill(store, until=START + timedelta(hours=1))


@pytest.mark.slow
def test_a_run_of_a_time_to_come_is_left_out_unless_it_is_asked_for(store: Store, landed_run: LandedRun) -> None:
    landed_run(RIGHT, at=START)
    landed_run(WRONG, at=START.replace(year=2099))
    summary = backfill(store)
    assert [row["period"] for row in summary.rows] == ["2026-03-01"]
    assert any(remark.startswith("1 run left out: dated in the future") for remark in summary.remarks)
    assert len(backfill(store, until=START.replace(year=2100)).rows) == 2


@pytest.mark.slow
def test_a_run_of_several_versions_of_a_skill_says_so(store: Store, landed_run: LandedRun) -> None:
    landed_run(RIGHT, at=START)
    landed_run(RIGHT, at=START + DAY, t0={"skill_digest": "of other files"})
    assert "after, " in backfill(store).rows[1]["explanation"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"user_requests": 2, "user_tokens": 30, "user_cost_usd": 0.01}, id="models-that-play-users"),
        pytest.param({"origin": "cached"}, id="kept-answers"),
    ],
)
def test_figures_that_are_the_same_do_not_land_again(store: Store, landed_run: LandedRun, fields: dict[str, Any]) -> None:
    landed_run(RIGHT, at=START, **fields)
    assert backfill(store).remarks == []


@pytest.mark.slow
def test_a_day_of_an_outage_has_no_completion_and_is_compared_with_nothing(store: Store, landed_run: LandedRun) -> None:
    landed_run(RIGHT, at=START)
    down = {"status": "error", "passed": False, "score": 0.0, "output": None, "error_kind": "infra", "error_message": "refused"}
    landed_run(RIGHT, at=START + DAY, **down)
    summary = backfill(store)
    assert shown(summary)[1][1:3] == (None, None)
    assert (summary.rows[1]["composite_score"], summary.rows[1]["error_rate"]) == (None, 1.0)
    ((_, points),) = summary.trend().items()
    assert [point.value for point in points] == [1.0, None]


@pytest.mark.slow
def test_what_is_printed_is_what_is_in_the_table(store: Store, days: Days) -> None:
    days(RIGHT, WRONG)
    summary = backfill(store)
    table = store.tables.dataset("comparisons").to_table().to_pylist()
    stored = {row["period"]: row for row in table}
    assert [row["period"] for row in summary.rows] == sorted(stored)
    for row in summary.rows:
        assert {name: value for name, value in row.items() if stored[row["period"]][name] != value} == {}


@pytest.mark.slow
def test_p53_no_stored_file_changes(store: Store, days: Days, tmp_path: Path) -> None:
    days(RIGHT, WRONG)
    before = content(tmp_path / "store")
    backfill(store), backfill(store, "rescore")
    after = content(tmp_path / "store")
    lines = before.pop("digests.jsonl")  # it grows by what lands beside
    assert lines != after["digests.jsonl"]
    assert {name: after[name] for name in before} == before


@pytest.mark.slow
def test_a_second_call_does_nothing_and_says_so(store: Store, days: Days, tmp_path: Path) -> None:
    days(RIGHT, WRONG)
    first = backfill(store)
    before = content(tmp_path / "store")
    second = backfill(store)
    assert (second.done, second.up_to_date) == ([], ["2026-03-01", "2026-03-02"])
    assert second.line == "nothing to do: 2 periods up to date; do it again with --force"
    assert shown(second) == shown(first)
    assert content(tmp_path / "store") == before


@pytest.mark.slow
def test_force_does_it_again_beside_what_is_there(store: Store, days: Days) -> None:
    days(RIGHT, WRONG)
    first, forced = backfill(store), backfill(store, force=True)
    assert (forced.done, shown(forced)) == (first.done, shown(first))
    assert len(store.comparisons()) == 4
    assert shown(backfill(store)) == shown(first)


@pytest.mark.slow
def test_only_what_changed_is_done_again(store: Store, days: Days, landed_run: LandedRun) -> None:
    days(RIGHT, RIGHT, RIGHT, RIGHT)
    backfill(store)
    landed_run(WRONG, at=START + DAY + timedelta(hours=1))
    summary = backfill(store)
    assert summary.done == ["2026-03-02", "2026-03-03"]  # the day itself, and the one that is compared with it
    assert [row["completion_rate"] for row in summary.rows] == [1.0, 0.0, 1.0, 1.0]


@pytest.mark.slow
def test_of_several_runs_of_a_period_the_last_one_counts(store: Store, landed_run: LandedRun) -> None:
    landed_run(WRONG, at=START)
    last = landed_run(RIGHT, at=START + timedelta(hours=2))
    [row] = backfill(store).rows
    assert (row["run_id"], row["completion_rate"]) == (last, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("every", "periods"),
    [
        pytest.param("day", ["2026-03-01", "2026-03-02", "2026-03-03"], id="days"),
        pytest.param("week", ["2026-W09", "2026-W10"], id="weeks"),
    ],
)
def test_periods_are_days_or_weeks(store: Store, days: Days, every: str, periods: list[str]) -> None:
    days(RIGHT, RIGHT, RIGHT)
    assert backfill(store, every=every).done == periods


@pytest.mark.slow
def test_or_runs(store: Store, days: Days) -> None:
    runs = days(RIGHT, WRONG)
    assert backfill(store, every="run").done == runs


@pytest.mark.slow
def test_a_skipped_day_is_bridged(store: Store, landed_run: LandedRun) -> None:
    first = landed_run(RIGHT, at=START)
    landed_run(WRONG, at=START + 5 * DAY)
    assert backfill(store).rows[1]["before_run_id"] == first


@pytest.mark.slow
def test_since_is_inside_until_is_not_and_the_first_is_compared_with_what_came_before(store: Store, days: Days) -> None:
    runs = days(RIGHT, WRONG, RIGHT, WRONG)
    summary = backfill(store, since=START + DAY, until=START + 3 * DAY)
    assert [(row["run_id"], row["before_run_id"]) for row in summary.rows] == [(runs[1], runs[0]), (runs[2], runs[1])]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["recompute", "rescore"])
def test_another_window_finds_the_same_periods_up_to_date(store: Store, days: Days, mode: str) -> None:
    days(RIGHT, WRONG, RIGHT)
    backfill(store, mode)
    assert backfill(store, mode, since=START + DAY).done == []
    assert len(store.comparisons()) == 3


@pytest.mark.slow
def test_what_was_scored_again_in_a_later_window_is_compared_once_what_came_before_is(store: Store, days: Days) -> None:
    days(RIGHT, WRONG, RIGHT)
    assert shown(backfill(store, "rescore", since=START + DAY))[0] == ("2026-03-02", 0.0, None, None)
    assert shown(backfill(store, "rescore"))[1] == ("2026-03-02", 0.0, -1.0, "worse")
    assert backfill(store, "rescore", since=START + DAY).done == []


@pytest.mark.slow
def test_reports_land_again_only_where_a_figure_differs(store: Store, days: Days) -> None:
    first, second = days(RIGHT, WRONG)
    rows = store.last_reports()
    summary = rows[0].summary.model_copy(update={"composite_score": 0.123})
    land_reports(store, second, None, [rows[0].model_copy(update={"summary": summary})])
    assert backfill(store).remarks == [f"run {second} has other figures today; they landed beside its own"]
    reports = store.reports()
    assert sorted(zip(reports["run_id"], reports["origin"], strict=True)) == [
        (first, "run"), (second, "recompute"), (second, "run"),
    ]  # fmt: skip
    assert backfill(store, force=True).done
    assert len(store.reports()) == 3


@pytest.mark.slow
def test_today_s_weights_count(store: Store, days: Days, tmp_path: Path) -> None:
    tasks: list[dict[str, Any]] = [{"id": name, "expectedOutput": {"value": "right"}} for name in ("a", "b")]
    benchmark = {"id": "tasks", "name": "T", "version": "1.0.0", "scoringMethod": "weighted_mean", "tasks": tasks}
    (tmp_path / "tasks.json").write_text(json.dumps(benchmark))
    [run_id] = days({"a": "right", "b": "wrong"})
    tasks[0]["weight"] = 3
    (tmp_path / "tasks.json").write_text(json.dumps(benchmark))
    backfill(store)
    found = store.query(f"SELECT partial_score FROM reports WHERE run_id = '{run_id}' ORDER BY origin DESC")
    assert list(found["partial_score"]) == [0.5, 0.75]


@pytest.mark.slow
def test_a_benchmark_that_is_gone_leaves_the_items_to_speak(store: Store, days: Days, tmp_path: Path) -> None:
    days(RIGHT, WRONG)
    (tmp_path / "tasks.json").unlink()
    assert [row["completion_rate"] for row in backfill(store).rows] == [1.0, 0.0]
