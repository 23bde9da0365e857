from __future__ import annotations

import pytest

from eval_skills.core.diff.pairing import pair_reports
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import SkillCompletionReport
from tests.tables import each_row

ZERO_SUMMARY = {
    "completionRate": 0.0,
    "partialScore": 0.0,
    "errorRate": 0.0,
    "consistencyScore": 1.0,
    "compositeScore": 0.5,
    "confidenceInterval": {"lower": 0.0, "upper": 1.0},
    "passAtK": None,
    "passHatK": None,
    "flakeRate": None,
}


def report(key: str, benchmark: str = "b") -> SkillCompletionReport:
    skill_id, version = key.split("@")
    return SkillCompletionReport.model_validate(
        {
            "skillId": skill_id,
            "skillVersion": version,
            "benchmarkId": benchmark,
            "timestamp": "2026-05-04T08:15:00Z",
            "summary": ZERO_SUMMARY,
            "latency": {"p50Ms": None, "p95Ms": None, "p99Ms": None, "meanMs": None},
            "tokenCost": {"promptTokens": None, "completionTokens": None, "totalTokens": None, "estimatedUSD": None},
        }
    )


def paired(before: str, after: str, mapping: dict[str, str] | None = None) -> list[str]:
    pairs = pair_reports([report(key) for key in before.split()], [report(key) for key in after.split()], mapping or {})
    return [f"{pair.before.skill_key if pair.before else '-'} > {pair.after.skill_key if pair.after else '-'}" for pair in pairs]


@each_row(
    ("before", "after", "expected"),
    [
        pytest.param("s@1.0.0", "s@1.0.0", ["s@1.0.0 > s@1.0.0"], id="same"),
        pytest.param("s@1.0.0", "s@2.0.0", ["s@1.0.0 > s@2.0.0"], id="another-version"),
        pytest.param("old@1.0.0", "new@1.0.0", ["- > new@1.0.0", "old@1.0.0 > -"], id="gone-and-new"),
        pytest.param(
            "s@1.0.0 s@2.0.0",
            "s@2.0.0 s@3.0.0",
            ["s@2.0.0 > s@2.0.0", "- > s@3.0.0", "s@1.0.0 > -"],
            id="p32-several-on-both-sides-by-version",
        ),
        pytest.param(
            "s@1.0.0 s@2.0.0",
            "s@3.0.0 s@4.0.0",
            ["- > s@3.0.0", "- > s@4.0.0", "s@1.0.0 > -", "s@2.0.0 > -"],
            id="several-without-a-common-one",
        ),
        pytest.param("s@1.0.0", "s@1.0.0 s@2.0.0", ["s@1.0.0 > s@1.0.0", "- > s@2.0.0"], id="one-and-its-equal"),
        pytest.param("s@1.0.0", "s@1.9.0 s@1.10.0", ["- > s@1.9.0", "s@1.0.0 > s@1.10.0"], id="one-goes-with-the-latest"),
        pytest.param("", "s@1.0.0", ["- > s@1.0.0"], id="nothing-before"),
        pytest.param("s@1.0.0", "", ["s@1.0.0 > -"], id="nothing-after"),
    ],
)
def test_reports_of_one_skill_belong_together(before: str, after: str, expected: list[str]) -> None:
    assert paired(before, after) == expected


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        pytest.param({"old": "new"}, ["old@1.0.0 > new@1.0.0", "s@1.0.0 > s@1.0.0"], id="ids"),
        pytest.param({"old@1.0.0": "s@1.0.0"}, ["- > new@1.0.0", "old@1.0.0 > s@1.0.0", "s@1.0.0 > -"], id="keys-go-first"),
    ],
)
def test_a_mapping_leads_to_the_successor(mapping: dict[str, str], expected: list[str]) -> None:
    assert paired("old@1.0.0 s@1.0.0", "new@1.0.0 s@1.0.0", mapping) == expected


def test_reports_on_different_benchmarks_are_never_compared() -> None:
    pairs = pair_reports([report("s@1.0.0", "b"), report("s@1.0.0", "c")], [report("s@1.0.0", "c"), report("s@1.0.0", "d")], {})
    sides = [(pair.before and pair.before.benchmark_id, pair.after and pair.after.benchmark_id) for pair in pairs]
    assert sides == [("c", "c"), (None, "d"), ("b", None)]


def test_a_skill_reported_twice_is_refused() -> None:
    with pytest.raises(InputError, match=r"s@1\.0\.0 has two reports on b after"):
        paired("s@1.0.0", "s@1.0.0 s@1.0.0")


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"odl": "new"}, r"skill 'odl', which is not among the reports before \(did you mean 'old'\?\)"),
        ({"old": "xyz"}, r"'xyz', which is not among the reports after; there are new, new@1\.0\.0"),
        ({"old": "new", "other": "new"}, r"leads two skills to the same one"),
    ],
)
def test_a_mapping_that_leads_nowhere_is_refused(mapping: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        paired("old@1.0.0 other@1.0.0", "new@1.0.0", mapping)
