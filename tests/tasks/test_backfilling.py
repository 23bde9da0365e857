"""A past time is rebuilt period by period, from stored items and answers: once, whole, and without changing what is stored."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.store import Journal, Store, land_reports
from eval_skills.tasks.backfill_plan import plan_backfill
from eval_skills.tasks.backfill_request import BackfillRequest
from eval_skills.tasks.backfill_summary import BackfillSummary, backfill_summary
from eval_skills.tasks.backfilling import Backfilling, PeriodOutcome
from eval_skills.tasks.request import EvaluateRequest
from eval_skills.tasks.summary import RunSummary

if TYPE_CHECKING:
    from tests.tasks.conftest import LandedRun, WriteExpectations

DAY = timedelta(days=1)
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
TASKS = [f"t{number}" for number in range(8)]
RIGHT, WRONG = dict.fromkeys(TASKS, "right"), dict.fromkeys(TASKS, "wrong")


def nobody(_: EvaluateRequest) -> RunSummary:
    raise AssertionError("nothing is called here")


def backfill(store: Store, mode: str = "recompute", *, stop_after: int | None = None, **options: Any) -> BackfillSummary:
    """The work of the flow, without Prefect around it."""
    request = BackfillRequest.model_validate({"mode": mode, "store": store.path, **options})
    outcomes: dict[str, PeriodOutcome] = {}
    with Backfilling.begin(request, nobody) as backfilling:
        for work in backfilling.plan.pending[:stop_after]:
            outcomes[work.digest] = backfilling.carry_out(work)
        return backfill_summary(backfilling.plan, outcomes)


def content(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def shown(summary: BackfillSummary) -> list[tuple[Any, ...]]:
    return [(row["period"], row["completion_rate"], row.get("completion_delta"), row.get("verdict")) for row in summary.rows]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def days(landed_run: LandedRun) -> Callable[..., list[str]]:
    """One run for each of these answers, a day apart."""
    return lambda *answers: [landed_run(each, at=START + number * DAY) for number, each in enumerate(answers)]


Days = Callable[..., list[str]]


class TestRecompute:
    def test_each_day_is_compared_with_the_one_before_paired_by_task(self, store: Store, days: Days) -> None:
        first, second, third = days(RIGHT, WRONG, WRONG)
        summary = backfill(store)
        assert shown(summary) == [
            ("2026-03-01", 1.0, None, None),
            ("2026-03-02", 0.0, -1.0, "worse"),
            ("2026-03-03", 0.0, 0.0, "inconclusive"),  # eight tasks that do not differ prove no equality
        ]
        worse = summary.rows[1]
        assert (worse["run_id"], worse["before_run_id"], worse["tasks"]) == (second, first, 8)
        assert worse["adjusted_p"] == pytest.approx(2 / 2**8)
        assert summary.rows[2]["run_id"] == third
        assert summary.line == "recompute: 3 periods; 1 worse, 1 inconclusive"

    def test_what_is_printed_is_what_is_in_the_table(self, store: Store, days: Days) -> None:
        days(RIGHT, WRONG)
        summary = backfill(store)
        table = store.tables.dataset("comparisons").to_table().to_pylist()
        stored = {row["period"]: row for row in table}
        for row in summary.rows:
            assert {name: value for name, value in row.items() if stored[row["period"]][name] != value} == {}

    def test_p53_no_stored_file_changes(self, store: Store, days: Days, tmp_path: Path) -> None:
        days(RIGHT, WRONG)
        before = content(tmp_path / "store")
        backfill(store), backfill(store, "rescore")
        after = content(tmp_path / "store")
        assert {name: after[name] for name in before} == before

    def test_a_second_call_does_nothing_and_says_so(self, store: Store, days: Days, tmp_path: Path) -> None:
        days(RIGHT, WRONG)
        first = backfill(store)
        before = content(tmp_path / "store")
        second = backfill(store)
        assert (second.done, second.up_to_date) == ([], ["2026-03-01", "2026-03-02"])
        assert second.line == "nothing to do: 2 periods up to date; do it again with --force"
        assert shown(second) == shown(first)
        assert content(tmp_path / "store") == before

    def test_force_does_it_again_beside_what_is_there(self, store: Store, days: Days) -> None:
        days(RIGHT, WRONG)
        first, forced = backfill(store), backfill(store, force=True)
        assert (forced.done, shown(forced)) == (first.done, shown(first))
        assert len(store.comparisons()) == 4
        assert shown(backfill(store)) == shown(first)

    def test_only_what_changed_is_done_again(self, store: Store, days: Days, landed_run: LandedRun) -> None:
        days(RIGHT, RIGHT, RIGHT, RIGHT)
        backfill(store)
        landed_run(WRONG, at=START + DAY + timedelta(hours=1))
        summary = backfill(store)
        assert summary.done == ["2026-03-02", "2026-03-03"]  # the day itself, and the one that is compared with it
        assert [row["completion_rate"] for row in summary.rows] == [1.0, 0.0, 1.0, 1.0]

    def test_of_several_runs_of_a_period_the_last_one_counts(self, store: Store, landed_run: LandedRun) -> None:
        landed_run(WRONG, at=START)
        last = landed_run(RIGHT, at=START + timedelta(hours=2))
        [row] = backfill(store).rows
        assert (row["run_id"], row["completion_rate"]) == (last, 1.0)

    @pytest.mark.parametrize(
        ("every", "periods"),
        [
            pytest.param("day", ["2026-03-01", "2026-03-02", "2026-03-03"], id="days"),
            pytest.param("week", ["2026-W09", "2026-W10"], id="weeks"),
        ],
    )
    def test_periods_are_days_or_weeks(self, store: Store, days: Days, every: str, periods: list[str]) -> None:
        days(RIGHT, RIGHT, RIGHT)
        assert backfill(store, every=every).done == periods

    def test_or_runs(self, store: Store, days: Days) -> None:
        runs = days(RIGHT, WRONG)
        assert backfill(store, every="run").done == runs

    def test_a_skipped_day_is_bridged(self, store: Store, landed_run: LandedRun) -> None:
        first = landed_run(RIGHT, at=START)
        landed_run(WRONG, at=START + 5 * DAY)
        assert backfill(store).rows[1]["before_run_id"] == first

    def test_since_is_inside_until_is_not_and_the_first_is_compared_with_what_came_before(self, store: Store, days: Days) -> None:
        runs = days(RIGHT, WRONG, RIGHT, WRONG)
        summary = backfill(store, since=START + DAY, until=START + 3 * DAY)
        assert [(row["run_id"], row["before_run_id"]) for row in summary.rows] == [(runs[1], runs[0]), (runs[2], runs[1])]

    def test_another_window_finds_the_same_periods_up_to_date(self, store: Store, days: Days) -> None:
        days(RIGHT, WRONG, RIGHT)
        backfill(store)
        assert backfill(store, since=START + DAY).done == []

    def test_reports_land_again_only_where_a_figure_differs(self, store: Store, days: Days) -> None:
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

    def test_today_s_weights_count(self, store: Store, days: Days, tmp_path: Path) -> None:
        tasks: list[dict[str, Any]] = [{"id": name, "expectedOutput": {"value": "right"}} for name in ("a", "b")]
        benchmark = {"id": "tasks", "name": "T", "version": "1.0.0", "scoringMethod": "weighted_mean", "tasks": tasks}
        (tmp_path / "tasks.json").write_text(json.dumps(benchmark))
        [run_id] = days({"a": "right", "b": "wrong"})
        tasks[0]["weight"] = 3
        (tmp_path / "tasks.json").write_text(json.dumps(benchmark))
        backfill(store)
        found = store.query(f"SELECT partial_score FROM reports WHERE run_id = '{run_id}' ORDER BY origin DESC")
        assert list(found["partial_score"]) == [0.5, 0.75]

    def test_a_benchmark_that_is_gone_leaves_the_items_to_speak(self, store: Store, days: Days, tmp_path: Path) -> None:
        days(RIGHT, WRONG)
        (tmp_path / "tasks.json").unlink()
        assert [row["completion_rate"] for row in backfill(store).rows] == [1.0, 0.0]


class TestRescore:
    def test_stored_answers_are_judged_by_what_is_expected_today(
        self, store: Store, days: Days, write_expectations: WriteExpectations
    ) -> None:
        runs = days(RIGHT, WRONG)
        write_expectations(**WRONG)
        summary = backfill(store, "rescore")
        assert shown(summary) == [("2026-03-01", 0.0, None, None), ("2026-03-02", 1.0, 1.0, "better")]
        assert {store.manifest(row["run_id"]).provenance["of"] for row in summary.rows} == set(runs)
        assert store.query("SELECT DISTINCT origin FROM reports ORDER BY 1")["origin"].tolist() == ["rescore", "run"]

    def test_each_answer_is_judged_once_however_often_it_is_asked(
        self, store: Store, days: Days, write_expectations: WriteExpectations
    ) -> None:
        days(RIGHT, WRONG)
        backfill(store, "rescore")
        backfill(store, "rescore", every="week")
        assert len(store.run_ids()) == 4
        write_expectations(**WRONG)
        assert backfill(store, "rescore").done == ["2026-03-01", "2026-03-02"]
        assert len(store.run_ids()) == 6

    def test_a_run_that_cannot_be_judged_is_told_and_the_others_go_on(self, store: Store, days: Days) -> None:
        long = dict.fromkeys(TASKS, "x" * 70000)
        days(RIGHT, long, WRONG)
        summary = backfill(store, "rescore")
        assert [row.get("completion_rate") for row in summary.rows] == [1.0, None, 0.0]
        assert "can be scored again" in summary.rows[1]["explanation"]
        assert summary.rows[2]["verdict"] == "worse"
        assert backfill(store, "rescore").done == []

    def test_later_work_is_not_worked_on_again(self, store: Store, days: Days) -> None:
        days(RIGHT)
        backfill(store, "rescore")
        plan = plan_backfill(BackfillRequest(mode="rescore", store=store.path))
        assert [len(work.sources) for work in plan.works] == [1]


class TestInterruption:
    def test_a_stopped_backfill_goes_on_where_it_ended(self, store: Store, days: Days) -> None:
        days(RIGHT, WRONG, RIGHT)
        assert backfill(store, stop_after=1).done == ["2026-03-01"]
        rest = backfill(store)
        assert (rest.up_to_date, rest.done) == (["2026-03-01"], ["2026-03-02", "2026-03-03"])
        assert shown(rest)[1:] == [("2026-03-02", 0.0, -1.0, "worse"), ("2026-03-03", 1.0, 1.0, "better")]
        assert len(store.comparisons()) == 3

    @pytest.mark.parametrize("step", ["rescore", "land_comparisons"])
    def test_a_kill_leaves_no_period_half_done(self, store: Store, days: Days, step: str) -> None:
        days(RIGHT, WRONG)
        done = subprocess.run([sys.executable, "-c", KILLED, store.path, step], env=dict(os.environ), timeout=120)
        assert done.returncode == -9
        assert list(store.comparisons()["period"]) == ["2026-03-01"]
        assert backfill(store, "rescore").done == ["2026-03-02"]
        assert len(store.run_ids()) == 4
        assert store.unfinished() == []

    def test_two_at_once_are_refused(self, store: Store, days: Days) -> None:
        days(RIGHT)
        request = BackfillRequest(mode="recompute", store=store.path)
        with Backfilling.begin(request, nobody), pytest.raises(UsageError, match="is being written by process"):
            backfill(store)
        assert backfill(store).done == ["2026-03-01"]


KILLED = """
import os, sys
from eval_skills.tasks import backfilling
from eval_skills.tasks.backfill_request import BackfillRequest
real, calls = getattr(backfilling, sys.argv[2]), []
def second_time_die(*arguments, **options):
    calls.append(1)
    if len(calls) == 2:
        os.kill(os.getpid(), 9)
    return real(*arguments, **options)
setattr(backfilling, sys.argv[2], second_time_die)
with backfilling.Backfilling.begin(BackfillRequest(mode="rescore", store=sys.argv[1]), None) as work:
    for period in work.plan.pending:
        work.carry_out(period)
"""


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            pytest.param({"mode": "replay"}, "--skills-repo and --mode replay belong together", id="replay-of-nothing"),
            pytest.param({"mode": "rescore", "skills_repo": "."}, "belong together", id="a-repository-for-nothing"),
            pytest.param({"mode": "rescore", "skills_path": "x"}, "--skills-path is for --mode replay", id="a-path-for-nothing"),
            pytest.param({"mode": "rescore", "every": "tag"}, "--every tag is for --mode replay", id="tags-of-runs"),
            pytest.param(
                {"mode": "replay", "skills_repo": ".", "every": "run"}, "--every run is for stored", id="runs-of-commits"
            ),
            pytest.param({"since": START, "until": START}, "--until is not after --since", id="no-time"),
            pytest.param({"since": datetime(2026, 1, 1)}, "timezone", id="no-time-zone"),
            pytest.param({"resume": "latest"}, "goes on by itself", id="resume"),
            pytest.param({"skills_path": "../x"}, "leads out of the repository", id="outside"),
            pytest.param({"skills_path": "/x"}, "leads out of the repository", id="absolute"),
            pytest.param({"mode": "redo"}, "recompute", id="unknown-mode"),
        ],
    )
    def test_p40_what_makes_no_sense_is_refused(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(ValidationError, match=message):
            BackfillRequest.model_validate({"mode": "recompute", **options})

    def test_p40_a_time_without_a_run_is_refused_and_leaves_no_trace(self, store: Store, days: Days, tmp_path: Path) -> None:
        days(RIGHT)
        before = content(tmp_path / "store")
        with pytest.raises(UsageError, match=r"no run of the store .* it holds 1 run from 2026-03-01 to 2026-03-01"):
            backfill(store, since=START + DAY)
        assert content(tmp_path / "store") == before

    def test_an_unfinished_run_is_left_out_with_a_remark(self, store: Store, days: Days) -> None:
        _, second = days(RIGHT, WRONG)
        with Journal(store.journal_path(second)):
            pass
        summary = backfill(store)
        assert summary.done == ["2026-03-01"]
        assert summary.remarks == [f"1 run left out: unfinished; the last is {second}"]

    def test_p40_where_no_run_can_be_used_it_says_why(self, store: Store, days: Days, tmp_path: Path) -> None:
        days(RIGHT)
        (tmp_path / "tasks.json").unlink()
        with pytest.raises(InputError, match=r"none of the 1 run in this time can be used: run .* is left out: .*no such file"):
            backfill(store, "rescore")

    def test_runs_of_other_benchmarks_are_left_out_where_one_is_named(self, store: Store, days: Days) -> None:
        days(RIGHT)
        with pytest.raises(InputError, match="runs of other benchmarks than coding-easy are left out"):
            backfill(store, "rescore", benchmark="coding-easy")


def test_the_request_survives_json() -> None:
    request = BackfillRequest(mode="replay", skills_repo=".", since=START, every="tag", runs=3)
    assert BackfillRequest.model_validate(json.loads(request.model_dump_json(by_alias=True))) == request


def test_a_replay_says_what_it_was_told_and_nothing_else() -> None:
    request = BackfillRequest(mode="replay", skills_repo=".", runs=3, format=["html"], min_completion=0.9, evaluator=None)
    assert request.evaluation(skills=["s"]).model_fields_set == {"runs", "format", "skills"}
    assert request.evaluation().format == []
