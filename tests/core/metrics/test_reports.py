from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_skills.core.errors import InputError
from eval_skills.core.metrics.reports import consistency_score, skill_reports
from eval_skills.core.models import Benchmark, SkillCompletionReport
from tests.tables import each_row

Outcome = dict[str, Sequence[str]]
"""For each task its runs, one letter each: p(ass), f(ail), e(rror), t(imeout)."""

STATUS = {"p": "pass", "f": "fail", "e": "error", "t": "timeout"}
EXAMPLE: Outcome = {"a": "pppp", "b": "pppf", "c": "pfpf", "d": "ffff", "e": "pppp", "f": "ppfp"}


def benchmark(*tasks: str, **fields: Any) -> Benchmark:
    definitions = [{"id": task, "evaluator": "exact"} for task in tasks]
    return Benchmark.model_validate({"id": "b", "name": "B", "version": "1.2.0", "tasks": definitions, **fields})


def items(outcome: Outcome, **columns: Any) -> pd.DataFrame:
    rows = [(task, run, STATUS[letter]) for task, runs in outcome.items() for run, letter in enumerate(runs)]
    frame = pd.DataFrame(rows, columns=["task_id", "run_index", "status"])
    frame["score"] = frame["status"].map({"pass": 1.0, "fail": 0.0})
    return frame.assign(**{"skill_id": "s", "skill_version": "1.0.0", "latency_ms": 100.0, **columns})


def report(outcome: Outcome, tested: Benchmark | None = None, **columns: Any) -> SkillCompletionReport:
    (only,) = skill_reports(items(outcome, **columns), tested or benchmark(), 1_000)
    return only


def test_the_example_as_published() -> None:
    summary = report(EXAMPLE, benchmark(scoringMethod="pass_at_k", k=2)).summary
    assert summary.completion_rate == pytest.approx(0.6667, abs=5e-5)
    assert summary.consistency_score == pytest.approx(0.8821, abs=5e-5)
    assert summary.partial_score == summary.pass_at_k == pytest.approx(0.8056, abs=5e-5)
    assert summary.pass_hat_k == pytest.approx(0.5278, abs=5e-5)
    assert summary.flake_rate == 0.5
    assert (summary.items, summary.tasks, summary.runs) == (24, 6, 4)


@pytest.mark.parametrize(
    ("kinds", "figures"),
    [
        pytest.param(["infra", "scorer", None, None], (2, 0.5, 0.75), id="two-of-four"),
        pytest.param(["skill", "contract", None, None], (0, 0.25, 0.25), id="the-skill-failed"),
        pytest.param(None, (None, None, None), id="kinds-not-known"),
    ],
)
def test_completion_of_the_judged_items_and_how_high_it_may_be(
    kinds: list[str | None] | None, figures: tuple[int | None, float | None, float | None]
) -> None:
    columns: dict[str, Any] = {"error_kind": kinds} if kinds else {}
    summary = report({"a": "eepf"}, **columns).summary
    assert summary.completion_rate == 0.25
    assert (summary.missing_items, summary.judged_completion_rate, summary.completion_upper_bound) == figures


def test_of_a_skill_that_was_never_judged_nothing_is_known() -> None:
    tested = report({"a": "ee"}, benchmark("a"), error_kind="infra", tags=[["x"]] * 2)
    summary = tested.summary
    assert (summary.judged_completion_rate, summary.completion_upper_bound) == (None, 1.0)
    assert (summary.has_verdict, summary.known_completion, summary.partial_score, summary.consistency_score) == (
        False, None, None, None,
    )  # fmt: skip
    assert (summary.pass_at_k, summary.pass_hat_k, summary.flake_rate, tested.by_tag["x"].partial_score) == (None,) * 4
    assert (tested.by_tag["x"].known_completion, tested.by_tag["x"].known_interval) == (None, None)
    known = report({"a": "ef"}, error_kind=["infra", None]).summary
    assert (known.has_verdict, known.known_completion, known.partial_score) == (True, 0.0, 0.0)


def test_p39_consistency_is_one_minus_the_population_deviation() -> None:
    assert consistency_score(np.array([0.9, 0.7, 0.8])) == pytest.approx(0.9184, abs=5e-5)
    assert consistency_score(np.array([0.4])) is None


def test_p14_errors_and_timeouts_count_as_not_passed() -> None:
    summary = report({"a": "p", "b": "f", "c": "e", "d": "t"}).summary
    assert summary.completion_rate == 0.25
    assert summary.error_rate == 0.5
    assert summary.partial_score == 0.25
    assert summary.counts is not None
    assert summary.counts.model_dump(by_alias=True) == {"pass": 1, "fail": 1, "error": 1, "timeout": 1}


def test_p30_failed_and_timed_out_items_stay_in_the_percentiles() -> None:
    latency = report({"a": "p", "b": "e", "c": "t"}, latency_ms=[0.0, 10.0, 900.0]).latency
    assert (latency.p50_ms, latency.p95_ms) == (10.0, 900.0)
    assert latency.mean_ms == pytest.approx(303.33, abs=0.01)


def test_unknown_latencies_are_left_out() -> None:
    assert report({"a": "p", "b": "e"}, latency_ms=[50.0, None]).latency.p95_ms == 50.0
    unknown = report({"a": "p"}, latency_ms=[np.nan])
    assert unknown.latency.p95_ms is None
    assert unknown.latency.mean_ms is None
    assert unknown.summary.composite_score == pytest.approx(0.8)


def test_p32_two_versions_are_two_reports_in_the_order_of_versions() -> None:
    frame = pd.concat([items({"a": "p"}, skill_version=version) for version in ("1.10.0", "1.9.0", "1.10.1")])
    assert [each.skill_key for each in skill_reports(frame, benchmark(), 100)] == ["s@1.9.0", "s@1.10.0", "s@1.10.1"]


def test_p33_k_beyond_the_runs_of_one_task_is_unknown() -> None:
    summary = report({"a": "pp", "b": "p"}, benchmark(scoringMethod="pass_at_k", k=2)).summary
    assert (summary.pass_at_k, summary.pass_hat_k, summary.partial_score) == (None, None, None)


@pytest.mark.parametrize(
    ("outcome", "flakes"),
    [
        pytest.param({"a": "p", "b": "f"}, None, id="one-run-has-no-flakes"),
        pytest.param({"a": "pf", "b": "fp"}, 1.0, id="opposite-halves"),
        pytest.param({"a": "pf", "b": "p", "c": "ff"}, 0.5, id="single-runs-do-not-count"),
    ],
)
def test_p37_flake_rate(outcome: Outcome, flakes: float | None) -> None:
    assert report(outcome).summary.flake_rate == flakes


@pytest.mark.parametrize(
    ("kinds", "flakes"),
    [
        pytest.param(["infra", None, None, None], 0.0, id="two-of-three-runs-have-a-verdict"),
        pytest.param(["infra", "judge", None, None], None, id="one-run-with-a-verdict-says-nothing"),
        pytest.param(["skill", None, None, None], 1.0, id="an-error-of-the-skill-is-a-verdict"),
    ],
)
def test_an_item_without_a_verdict_makes_no_task_flaky(kinds: list[str | None], flakes: float | None) -> None:
    outcome = "".join("e" if kind else "p" for kind in kinds[:3])
    assert report({"a": outcome, "b": "p"}, error_kind=kinds).summary.flake_rate == flakes


def test_p38_unknown_tokens_and_cost_are_no_zeros() -> None:
    unknown = report({"a": "p", "b": "p"}).token_cost
    assert (unknown.prompt_tokens, unknown.total_tokens, unknown.estimated_usd) == (None, None, None)
    partly = report(
        {"a": "p", "b": "p"}, prompt_tokens=[3, None], completion_tokens=[None, None], cost_usd=[0.5, None]
    ).token_cost
    assert (partly.prompt_tokens, partly.completion_tokens, partly.total_tokens, partly.estimated_usd) == (3, None, None, 0.5)


def test_a_task_missing_in_one_run_does_not_count_there() -> None:
    summary = report({"a": "pp", "b": "f"}).summary
    assert summary.completion_rate == pytest.approx(2 / 3)
    assert summary.consistency_score == 0.75
    assert summary.runs == 2


def test_run_indices_may_start_anywhere() -> None:
    assert report({"a": "pf"}, run_index=[3, 1_000_000_000]).summary.consistency_score == 0.5


@each_row(
    ("weights", "partial"),
    [
        pytest.param({"weight": [3.0, 1.0]}, 0.875, id="of-the-items"),
        pytest.param({"weight": [None, 1.0]}, 0.75, id="of-the-benchmark-where-unknown"),
        pytest.param({}, 2 / 3, id="of-the-benchmark"),
        pytest.param({"weight": [0.0, 1.0]}, 0.5, id="zero"),
        pytest.param({"weight": [0.0, 0.0]}, None, id="nothing-weighs"),
    ],
)
def test_weighted_mean(weights: dict[str, Any], partial: float | None) -> None:
    tasks = [{"id": "a", "evaluator": "exact"}, {"id": "b", "evaluator": "exact", "weight": 2.0}]
    tested = benchmark(scoringMethod="weighted_mean", tasks=tasks)
    summary = report({"a": "p", "b": "p"}, tested, score=[1.0, 0.5], **weights).summary
    assert summary.partial_score == (None if partial is None else pytest.approx(partial))


def test_by_tag() -> None:
    by_tag = report({"a": "p", "b": "f", "c": "e"}, tags=[["x", "y"], ["y"], []]).by_tag
    assert {tag: (of.completion_rate, of.error_rate, of.items, of.tasks) for tag, of in by_tag.items()} == {
        "x": (1.0, 0.0, 1, 1),
        "y": (0.5, 0.0, 2, 2),
    }
    assert by_tag["y"].confidence_interval is not None
    assert by_tag["y"].confidence_interval.method == "wilson_widened"


def test_tags_come_from_the_benchmark_where_the_items_do_not_know_them() -> None:
    tested = benchmark(tasks=[{"id": "a", "evaluator": "exact", "tags": ["x"]}, {"id": "b", "evaluator": "exact", "tags": ["z"]}])
    assert report({"a": "p", "b": "f"}, tested).by_tag.keys() == {"x", "z"}
    assert report({"a": "p", "b": "f"}, tested, tags=[None, ["w"]]).by_tag.keys() == {"x", "w"}


def test_a_tag_of_other_skills_tasks_is_left_out() -> None:
    frame = pd.concat([items({"a": "p"}, tags=[["x"]]), items({"b": "p"}, skill_id="other", tags=[["y"]])])
    assert [list(each.by_tag) for each in skill_reports(frame, benchmark(), 100)] == [["y"], ["x"]]


def test_by_complexity_from_simple_on() -> None:
    rated = ["very_complex", "simple", None, "simple"]
    by_complexity = report({"a": "p", "b": "f", "c": "p", "d": "p"}, complexity=rated).by_complexity
    assert [(name, of.completion_rate, of.items, of.tasks) for name, of in by_complexity.items()] == [
        ("simple", 0.5, 2, 2),
        ("very_complex", 1.0, 1, 1),
    ]
    assert by_complexity["simple"].confidence_interval is not None


def test_complexity_comes_from_the_benchmark_where_the_items_do_not_know_it() -> None:
    tested = benchmark(
        tasks=[
            {"id": "a", "evaluator": "exact", "complexity": "medium"},
            {"id": "b", "evaluator": "exact", "complexity": "complex"},
        ]
    )
    assert list(report({"a": "p", "b": "f"}, tested).by_complexity) == ["medium", "complex"]
    assert list(report({"a": "p", "b": "f"}, tested, complexity=[None, "simple"]).by_complexity) == ["simple", "medium"]
    assert report({"a": "p"}).by_complexity == {}


def test_no_items_no_reports() -> None:
    assert skill_reports(pd.DataFrame(), benchmark(), 100) == []
    assert skill_reports(items({}), benchmark(), 100) == []


@each_row("timeout_ms", [0, -1, float("nan"), float("inf")])
def test_a_limit_of_nothing_is_refused(timeout_ms: float) -> None:
    with pytest.raises(InputError, match="timeout"):
        skill_reports(items({"a": "p"}), benchmark(), timeout_ms)


def test_the_benchmarks_limit_beats_the_timeout() -> None:
    assert report({"a": "p"}, benchmark(maxLatencyMs=200)).summary.composite_score == pytest.approx(0.9)
    assert report({"a": "p"}).summary.composite_score == pytest.approx(0.98)


def test_the_report_says_what_it_was_computed_by() -> None:
    first = report({"a": "pp"}, benchmark(k=2))
    assert first.evaluator_metadata == {
        "benchmarkVersion": "1.2.0",
        "scoringMethod": "mean",
        "k": 2,
        "runs": 2,
        "maxLatencyMs": 1_000,
    }


def test_the_level_is_that_of_every_interval() -> None:
    (only,) = skill_reports(items(EXAMPLE), benchmark(), 100, level=0.8)
    interval, usual = only.summary.confidence_interval, report(EXAMPLE).summary.confidence_interval
    assert (interval.level, usual.level) == (0.8, 0.95)
    assert usual.lower < interval.lower < interval.upper < usual.upper


def test_figures_alone_without_task_results() -> None:
    frame = items(EXAMPLE, started_at=datetime(2026, 5, 4, tzinfo=UTC))
    (full,) = skill_reports(frame, benchmark(), 100)
    (figures,) = skill_reports(frame, benchmark(), 100, task_results=False)
    assert len(full.task_results) == 24
    assert figures == full.model_copy(update={"task_results": []})


@each_row(
    ("cell", "found"),
    [
        pytest.param("2026-05-04T10:15:00.25+02:00", datetime(2026, 5, 4, 8, 15, 0, 250_000, tzinfo=UTC), id="text"),
        pytest.param(pd.Timestamp("2026-05-04T08:15:00"), datetime(2026, 5, 4, 8, 15, tzinfo=UTC), id="no-zone"),
        pytest.param(pd.Timestamp("2026-05-04T10:15:00+02:00"), datetime(2026, 5, 4, 8, 15, tzinfo=UTC), id="zone"),
        pytest.param(pd.NaT, None, id="unknown"),
    ],
)
def test_items_say_when_they_began(cell: Any, found: datetime | None) -> None:
    (report,) = skill_reports(items(EXAMPLE, started_at=cell), benchmark(), 100)
    assert {item.started_at for item in report.task_results} == {found}
    assert ("startedAt" in report.task_results[0].to_json()) == (found is not None)


@pytest.mark.slow
@settings(max_examples=10)
@given(st.randoms(use_true_random=False), st.integers(1, 4))
def test_order_and_index_of_the_rows_never_change_a_report(random: Any, skills: int) -> None:
    scores = {"latency_ms": np.arange(24) * 1.1, "cost_usd": np.arange(24) / 7, "started_at": "2026-05-04T08:15:00Z"}
    frame = pd.concat([items(EXAMPLE, skill_id=f"s{index}", **scores) for index in range(skills)])
    order = list(range(len(frame)))
    random.shuffle(order)
    tested = benchmark("f", "a")
    assert skill_reports(frame.iloc[order], tested, 1_000) == skill_reports(frame.reset_index(drop=True), tested, 1_000)


def test_another_skill_never_changes_a_report() -> None:
    alone = items(EXAMPLE, started_at="2026-05-04T08:15:00Z")
    beside = pd.concat([items({"a": "ff", "z": "ee"}, skill_id="a", started_at="2026-01-01T00:00:00Z"), alone])
    assert skill_reports(beside, benchmark(), 100)[1:] == skill_reports(alone, benchmark(), 100)


@pytest.mark.parametrize("dtype", ["object", "str", "category"])
def test_text_columns_of_any_kind_give_the_same(dtype: str) -> None:
    frame = items(EXAMPLE, started_at="2026-05-04T08:15:00Z")
    typed = frame.astype(dict.fromkeys(("skill_id", "skill_version", "task_id", "status"), dtype))
    assert skill_reports(typed, benchmark(), 100) == skill_reports(frame, benchmark(), 100)


@pytest.mark.slow
def test_sparse_items_give_the_same_as_dense_ones() -> None:
    sparse = pd.concat([items({f"t{index}": "pf"}, skill_id=f"s{index}", run_index=[index, index + 900]) for index in range(40)])
    found = [each.summary for each in skill_reports(sparse, benchmark(), 100)]
    assert [(each.completion_rate, each.consistency_score, each.flake_rate) for each in found] == [(0.5, 0.5, 1.0)] * 40
