from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import Ranking, SkillCompletionReport
from eval_skills.core.selection import SelectStrategy, left_out_ties, load_strategy, removals, select
from tests.core.skills import skill
from tests.tables import each_row


def report(skill_id: str, p95: float | None = 100.0, usd: float | None = None, **summary: Any) -> SkillCompletionReport:
    figures = {
        "completionRate": 1.0,
        "partialScore": 1.0,
        "errorRate": 0.0,
        "consistencyScore": 1.0,
        "compositeScore": 0.9,
        "confidenceInterval": {"lower": 0.5, "upper": 1.0},
        "passAtK": None,
        "passHatK": None,
        "flakeRate": None,
        **summary,
    }
    return SkillCompletionReport.model_validate(
        {
            "skillId": skill_id,
            "skillVersion": "1.0.0",
            "benchmarkId": "b",
            "timestamp": "2026-05-04T08:15:00Z",
            "summary": figures,
            "latency": {"p50Ms": None, "p95Ms": p95, "p99Ms": None, "meanMs": None},
            "tokenCost": {"promptTokens": None, "completionTokens": None, "totalTokens": None, "estimatedUSD": usd},
        }
    )


def selected(reports: list[SkillCompletionReport], strategy: dict[str, Any], **fields: Any) -> list[str]:
    skills = [skill(each.skill_id, **fields) for each in reports]
    return [ranked.skill.id for ranked in select(skills, reports, SelectStrategy.model_validate(strategy))]


@pytest.mark.parametrize(("top", "expected"), [(1, ["a"]), (2, ["a", "b"]), (9, ["a", "b", "c"])])
def test_only_so_many_of_the_best_are_selected(top: int, expected: list[str]) -> None:
    reports = [report("c", completionRate=0.1), report("a", completionRate=0.9), report("b", completionRate=0.5)]
    assert selected(reports, {"sortBy": "completionRate", "topK": top}) == expected


@each_row(
    ("sort_by", "order", "expected"),
    [
        ("latency", None, ["fast", "slow", "unknown"]),
        ("latency", "asc", ["fast", "slow", "unknown"]),
        ("latency", "desc", ["slow", "fast", "unknown"]),
        ("tokenCost", None, ["slow", "fast", "unknown"]),
        ("tokenCost", "desc", ["fast", "slow", "unknown"]),
    ],
)
def test_p38_p44_direction_by_meaning_and_unknown_values_last(sort_by: str, order: str | None, expected: list[str]) -> None:
    reports = [report("unknown", p95=None), report("slow", p95=900.0, usd=0.0), report("fast", p95=10.0, usd=2.0)]
    assert selected(reports, {"sortBy": sort_by, **({"order": order} if order else {})}) == expected


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_a_cost_that_is_unknown_of_some_items_comes_last(order: str) -> None:
    quiet = report("quiet", usd=0.05)
    quiet = quiet.model_copy(update={"token_cost": quiet.token_cost.model_copy(update={"cost_unknown_items": 7})})
    assert selected([quiet, report("honest", usd=0.08)], {"sortBy": "tokenCost", "order": order}) == ["honest", "quiet"]


@pytest.mark.parametrize("sort_by", ["compositeScore", "completionRate"])
def test_rates_descend_unless_ordered_otherwise(sort_by: str) -> None:
    reports = [report("low", compositeScore=0.1, completionRate=0.1), report("high")]
    assert selected(reports, {"sortBy": sort_by}) == ["high", "low"]
    assert selected(reports, {"sortBy": sort_by, "order": "asc"}) == ["low", "high"]


def test_an_unknown_latency_fulfils_no_limit() -> None:
    assert selected([report("a", p95=None)], {"filters": {"maxLatencyP95Ms": 10_000}}) == []


def test_p31_the_lower_bound_tells_a_small_sample_from_a_proof() -> None:
    reports = [report("small"), report("large", confidenceInterval={"lower": 0.9, "upper": 1.0})]
    assert selected(reports, {"filters": {"minCompletionLowerBound": 0.8}}) == ["large"]


def test_adapter_types_are_any_of_the_named() -> None:
    reports = [report("a")]
    assert selected(reports, {"filters": {"adapterTypes": ["mcp", "custom"]}}, adapterType="custom") == ["a"]
    assert selected(reports, {"filters": {"adapterTypes": ["mcp"]}}, adapterType="custom") == []


def test_p32_a_report_counts_for_its_own_version_only() -> None:
    assert select([skill("a", version="2.0.0"), skill("b")], [report("a")]) == []


def test_two_reports_of_one_skill_are_refused() -> None:
    with pytest.raises(InputError, match=r"a@1\.0\.0 has two reports"):
        select([skill("a")], [report("a"), report("a")])


def test_p45_nothing_selected_is_an_empty_list() -> None:
    assert selected([report("a")], {"filters": {"minCompletionRate": 1.0, "maxErrorRate": 0.0, "requiredTags": ["x"]}}) == []


def ranked(skill_id: str, rank: int, completion: float) -> SkillCompletionReport:
    made = report(skill_id, completionRate=completion, compositeScore=completion)
    ranking = Ranking(
        rank=rank, last_rank=rank + 1, ranked_skills=5, adjusted_p=None, probability_best=None, rank_lower=None, rank_upper=None,
        shrunk_completion_rate=0.5, pareto_optimal=False,
    )  # fmt: skip
    return made.model_copy(update={"ranking": ranking})


FIVE = [ranked("a", 1, 0.9), ranked("b", 1, 0.8), ranked("c", 3, 0.5), ranked("d", 3, 0.4), ranked("e", 5, 0.1)]


@each_row(
    ("strategy", "kept", "left_out"),
    [
        pytest.param({"topK": 1}, "ab", "b", id="in-the-first-group"),
        pytest.param({"topK": 2}, "ab", "", id="between-groups"),
        pytest.param({"topK": 3}, "abcd", "d", id="in-a-later-group"),
        pytest.param({"topK": 3, "filters": {"maxErrorRate": 0.0, "minCompletionRate": 0.5}}, "abc", "", id="filters-come-first"),
        pytest.param({"topK": 1, "sortBy": "latency"}, "a", "", id="ranks-are-no-order-of-latency"),
        pytest.param({}, "abcde", "", id="nothing-is-cut"),
    ],
)
def test_a_cut_through_a_tie_is_known_and_may_be_avoided(strategy: dict[str, Any], kept: str, left_out: str) -> None:
    skills = [skill(each.skill_id) for each in FIVE]
    asked = SelectStrategy.model_validate(strategy)
    assert "".join(each.id for each in left_out_ties(skills, FIVE, asked)) == left_out
    assert "".join(selected(FIVE, strategy | {"keepTies": True})) == kept
    assert "".join(selected(FIVE, strategy)) == "".join(each for each in kept if each not in left_out)
    assert left_out_ties(skills, FIVE, asked.model_copy(update={"keep_ties": True})) == []


def test_ranks_count_from_one() -> None:
    ranked = select([skill("a"), skill("b")], [report("a", compositeScore=0.1), report("b")])
    assert [(each.rank, each.skill.id, each.report.skill_id) for each in ranked] == [(1, "b", "b"), (2, "a", "a")]


def test_p44_every_key_of_a_strategy_file_may_be_left_out(tmp_path: Path) -> None:
    file = tmp_path / "strategy.json"
    file.write_text("{}", encoding="utf-8")
    assert load_strategy(file) == SelectStrategy()


def test_a_strategy_may_be_yaml(tmp_path: Path) -> None:
    file = tmp_path / "strategy.yaml"
    file.write_text("filters:\n  minCompletionRate: 0.8\n  maxLatencyP95Ms: 500\nsortBy: latency\ntopK: 3\n", encoding="utf-8")
    strategy = load_strategy(file)
    assert (strategy.filters.min_completion_rate, strategy.filters.max_latency_p95_ms) == (0.8, 500)
    assert (strategy.sort_by, strategy.descending, strategy.top_k) == ("latency", False, 3)


@each_row(
    ("text", "message"),
    [
        pytest.param('{"filter": {}}', r"strategy\.json.*'filter'.*did you mean 'filters'", id="unknown-key"),
        pytest.param('{"filters": {"minCompletionrate": 0.5}}', r"filters: unknown key 'minCompletionrate'", id="unknown-filter"),
        pytest.param('{"filters": {"minCompletionRate": 80}}', r"less than or equal to 1; got 80", id="percent"),
        pytest.param('{"filters": {"minCompletionRate": NaN}}', r"NaN \(line 1\) is not JSON", id="p40-nan"),
        pytest.param('{"sortBy": "speed"}', r"sortBy", id="unknown-sort-key"),
        pytest.param('{"topK": 0}', r"topK", id="top-nothing"),
        pytest.param('{"order": "down"}', r"order", id="unknown-order"),
        pytest.param('{"filters": {"adapterTypes": ["htp"]}}', r"adapterTypes\[0\]", id="unknown-adapter"),
    ],
)
def test_p40_p44_a_wrong_strategy_is_refused_with_file_and_place(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "strategy.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_strategy(file)


def test_what_removed_a_skill_is_named_with_both_values() -> None:
    filters = {
        "minCompletionRate": 0.8, "minCompletionLowerBound": 0.6, "maxErrorRate": 0.0, "maxLatencyP95Ms": 50,
        "adapterTypes": ["custom", "mcp"], "requiredTags": ["math", "fast"],
    }  # fmt: skip
    strategy = SelectStrategy.model_validate({"filters": filters})
    reports = [report("slow", p95=100.0, completionRate=0.65, errorRate=0.05), report("unknown", p95=None)]
    skills = [skill(name, tags=["math"]) for name in ("slow", "unknown", "new")]
    slow, unknown, new = removals(skills, reports, strategy)
    assert slow.removeprefix("slow@1.0.0: ").split("; ") == [
        "completion 65.0 % is under 80.0 % (minCompletionRate)",
        "the interval begins at 50.0 %, under 60.0 % (minCompletionLowerBound)",
        "5.0 % errors are above 0.0 % (maxErrorRate)",
        "P95 100 ms is not 50 ms at most (maxLatencyP95Ms)",
        "its adapter is http, not custom or mcp (adapterTypes)",
        "it lacks the tag 'fast' (requiredTags)",
    ]
    assert "P95 is unknown, and must be 50 ms at most (maxLatencyP95Ms)" in unknown
    assert removals([skill("slow")], reports, strategy)[0].endswith("it lacks the tags 'math' and 'fast' (requiredTags)")
    assert new == "new@1.0.0: it has no report; evaluate it first"
    assert removals(skills[:2], reports, SelectStrategy()) == []


def test_completion_that_nobody_knows_is_not_said_to_be_0() -> None:
    down = report("down", completionRate=0.0, missingItems=4, judgedCompletionRate=None)
    assert removals([skill("down")], [down], SelectStrategy.model_validate({"filters": {"minCompletionRate": 0.7}})) == [
        "down@1.0.0: completion is unknown, and may be under 70.0 % (minCompletionRate)"
    ]
    failing = report("failing", completionRate=0.0)
    for sort_by in ("completionRate", "compositeScore"):
        assert selected([down, failing], {"sortBy": sort_by, "order": "asc"}) == ["failing", "down"], "the unknown one comes last"


def test_a_figure_that_misses_a_limit_never_looks_like_it() -> None:
    near = report(
        "big", p95=13.2, completionRate=2999 / 3000, errorRate=1 / 3000, confidenceInterval={"lower": 0.99999, "upper": 1}
    )
    filters = {"minCompletionRate": 1.0, "maxErrorRate": 0.0, "maxLatencyP95Ms": 13, "minCompletionLowerBound": 1.0}
    assert removals([skill("big")], [near], SelectStrategy.model_validate({"filters": filters})) == [
        "big@1.0.0: completion 99.97 % is under 100.0 % (minCompletionRate); "
        "the interval begins at 99.999 %, under 100.0 % (minCompletionLowerBound); "
        "0.03 % errors are above 0.0 % (maxErrorRate); P95 13.2 ms is not 13 ms at most (maxLatencyP95Ms)"
    ]
