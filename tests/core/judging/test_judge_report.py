"""What a report says of the models that judged."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pandas as pd
import pytest

from eval_skills.core.judging.calibration import Calibration, LabelledItem, calibrate
from eval_skills.core.judging.pairs import Preference
from eval_skills.core.judging.report import JudgeKnowledge, judge_figures
from tests.tables import each_row

JUDGE = ("openai/one", "llm_judge 1")


def rows(*statuses: str, lengths: list[int] | None = None, scores: list[float] | None = None, **more: Any) -> pd.DataFrame:
    count = len(statuses)
    return pd.DataFrame(
        {
            "task_id": [f"t{n}" for n in range(count)],
            "status": statuses,
            "score": scores or [1.0 if status == "pass" else 0.0 for status in statuses],
            "reasons": [[{"code": "JUDGE_VERDICT"}]] * count,
            "output": [json.dumps("x" * length) for length in (lengths or range(1, count + 1))],
            **more,
        }
    )


@cache
def calibration(version: str = "1.0.0", *, passes: tuple[int, int] = (45, 5), fails: tuple[int, int] = (40, 10)) -> Calibration:
    groups = [(passes[0], 1, 1), (passes[1], 1, 0), (fails[0], 0, 0), (fails[1], 0, 1)]
    pairs = [(float(human), float(judge)) for count, human, judge in groups for _ in range(count)]
    items = [LabelledItem(f"l{n}", human, human == 1, judge, judge == 1) for n, (human, judge) in enumerate(pairs)]
    moment = datetime(2026, 11, 22, tzinfo=UTC)
    return calibrate(items, benchmark_id="b", benchmark_version=version, model=JUDGE[0], prompt=JUDGE[1], at=moment)


def known(frame: pd.DataFrame, *calibrations: Calibration, **more: Any) -> JudgeKnowledge:
    return JudgeKnowledge(
        dict.fromkeys(frame["task_id"], JUDGE), dict.fromkeys([JUDGE], *calibrations) if calibrations else {}, **more
    )


@pytest.mark.slow
def test_the_corrected_rate_stands_beside_the_raw_one() -> None:
    frame = rows(*["pass"] * 70, *["fail"] * 30)
    found = judge_figures(frame, known(frame, calibration()), "1.0.0")
    assert found is not None
    assert found.corrected_completion is not None
    assert found.corrected_completion.value == pytest.approx(0.5 / 0.7)
    assert found.corrected_reason is None
    [judge] = found.judges
    assert (judge.items, judge.calibration is not None and judge.calibration.labels) == (100, 100)


@pytest.mark.slow
def test_its_interval_holds_what_items_without_a_verdict_may_be() -> None:
    kinds = [*[None] * 12, *["judge"] * 6, *["skill"] * 2]
    frame = rows(*["pass"] * 8, *["fail"] * 4, *["error"] * 8, error_kind=kinds)
    whole = rows(*["pass"] * 14, *["fail"] * 6)
    found = judge_figures(frame, known(frame, calibration(passes=(50, 0), fails=(50, 0))), "1.0.0")
    best = judge_figures(whole, known(whole, calibration(passes=(50, 0), fails=(50, 0))), "1.0.0")
    assert found is not None
    assert found.corrected_completion is not None
    assert best is not None
    assert best.corrected_completion is not None
    assert found.corrected_completion.value == pytest.approx(8 / 20)
    assert (found.corrected_completion.lower or 0) < 8 / 20
    assert found.corrected_completion.upper == pytest.approx(best.corrected_completion.upper, abs=0.05)


@pytest.mark.slow
@each_row(
    ("calibrations", "reason"),
    [
        pytest.param([], "openai/one is not calibrated on this benchmark; see eval-skills judge calibrate", id="never"),
        pytest.param([{"version": "0.9.0"}], "was calibrated on version 0.9.0 of this benchmark", id="another-version"),
        pytest.param([{"passes": (5, 5), "fails": (5, 5)}], "no better than chance", id="a-coin"),
        pytest.param(
            [{"passes": (9, 0), "fails": (2, 0)}], "too few labels: 9 that say pass and 2 that say fail", id="too-few-fail"
        ),
        pytest.param([{"passes": (4, 0), "fails": (5, 0)}], "at least 10 with 3 of each kind are needed", id="too-few"),
        pytest.param([{"fails": (0, 0)}], "no label says fail", id="no-failure-labelled"),
    ],
)
def test_what_cannot_be_corrected_is_none_with_a_reason(calibrations: list[dict[str, Any]], reason: str) -> None:
    frame = rows("pass", "fail", "pass")
    found = judge_figures(frame, known(frame, *(calibration(**each) for each in calibrations)), "1.0.0")
    assert found is not None
    assert found.corrected_completion is None
    assert reason in (found.corrected_reason or "")


@pytest.mark.parametrize(
    ("status", "code"),
    [
        pytest.param("error", "JUDGE_TIMEOUT", id="error"),
        pytest.param("fail", "NOT_JUDGED", id="a-gate-came-first"),
        pytest.param("fail", "OUTPUT_EMPTY", id="no-answer"),
        pytest.param("fail", "FORBIDDEN_TOOL_CALLED", id="forbidden-tool"),
    ],
)
def test_items_without_a_models_verdict_are_not_corrected(status: str, code: str) -> None:
    said = [[{"code": each}] for each in ("JUDGE_VERDICT", "JUDGE_VERDICT", "JUDGE_VERDICT", code)]
    frame = rows("pass", "pass", "pass", status, reasons=said)
    found = judge_figures(frame, known(frame, calibration()), "1.0.0")
    assert found is not None
    assert (found.items, found.judges[0].items) == (3, 3)
    assert found.corrected_completion is not None
    assert found.corrected_completion.value == 0.75, "whatever the judge is like, one of four was not judged, and did not pass"


def test_length_bias_is_the_rank_correlation_of_score_and_length() -> None:
    frame = rows(*["fail"] * 5, lengths=[1, 2, 3, 4, 5], scores=[0.1, 0.2, 0.3, 0.4, 0.35])
    found = judge_figures(frame, known(frame), "1.0.0")
    assert found is not None
    assert found.length_bias.spearman == pytest.approx(0.9)
    assert found.length_bias.rating == "strong"
    frame["output_quality"] = [0.5, 0.5, 0.4, 0.6, 0.5]  # what the judge gave counts, not the item's overall score
    again = judge_figures(frame, known(frame), "1.0.0")
    assert again is not None
    assert again.length_bias.spearman == pytest.approx(0.2236, abs=1e-4)
    assert again.length_bias.items == 5
    assert again.length_bias.rating == "acceptable"


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        pytest.param(rows("pass", "fail"), "fewer than 3 items", id="too-few"),
        pytest.param(rows("pass", "pass", "pass"), "all scores or all lengths are the same", id="no-spread"),
        pytest.param(rows("pass", "fail", "pass").drop(columns="output"), "the answers are not available", id="no-answers"),
    ],
)
def test_no_length_bias_is_none_and_never_zero(frame: pd.DataFrame, reason: str) -> None:
    found = judge_figures(frame, known(frame), "1.0.0")
    assert found is not None
    assert (found.length_bias.spearman, found.length_bias.rating, found.length_bias.reason) == (None, None, reason)


def paid(frame: pd.DataFrame, tokens: list[float | None], cost: list[float | None]) -> pd.DataFrame:
    kinds = pd.Series([None] * (len(frame) - 1) + ["judge"])
    return frame.assign(judge_tokens=pd.Series(tokens), judge_cost_usd=pd.Series(cost), error_kind=kinds)


@each_row(
    ("tokens", "cost", "found"),
    [
        pytest.param([100, 0, 20], [0.5, 0.0, 0.25], (120, 0.75, 1), id="what-failed-was-paid-too"),
        pytest.param([100, 0, None], [0.5, 0.0, None], (100, 0.5, 1), id="who-did-not-answer-took-nothing"),
        pytest.param([100, 0, 20], [None, 0.0, None], (120, None, 1), id="p38-no-price"),
        pytest.param([None, 0, 20], [None, 0.0, 0.25], (None, None, 1), id="p38-no-count-of-a-verdict"),
        pytest.param([None, None, None], [None, None, None], (None, None, 0), id="nothing-known"),
    ],
)
def test_a_judge_is_told_with_what_it_took(
    tokens: list[float | None], cost: list[float | None], found: tuple[int | None, float | None, int]
) -> None:
    frame = paid(rows("pass", "fail", "error"), tokens, cost)
    figures = judge_figures(frame, known(frame), "1.0.0")
    assert figures is not None
    [judge] = figures.judges
    assert (judge.items, judge.unjudged) == (figures.items, figures.unjudged) == (2, 1)
    assert (judge.tokens, judge.cost_usd, judge.cached) == found


def test_agreement_is_the_mean_over_what_panels_judged() -> None:
    frame = rows("pass", "fail", "pass", "error", judge_agreement=[1.0, 0.5, None, 0.0])
    found = judge_figures(frame, known(frame), "1.0.0")
    assert found is not None
    assert (found.agreement, found.judges[0].agreement) == (0.75, 0.75)
    single = judge_figures(frame.assign(judge_agreement=None), known(frame), "1.0.0")
    assert single is not None
    assert single.agreement is None


def test_each_judge_is_told_with_its_own_items() -> None:
    frame = rows("pass", "fail", "pass", "error", judge_tokens=[1, 20, 300, 4000], error_kind=[None, None, None, "judge"])
    other = ("openai/two", "rubric 1")
    found = judge_figures(frame, JudgeKnowledge({"t0": JUDGE, "t1": JUDGE, "t2": other, "t3": other}), "1.0.0")
    assert found is not None
    told = [(each.model, each.items, each.unjudged, each.tokens) for each in found.judges]
    assert told == [("openai/one", 2, 0, 21), ("openai/two", 1, 1, 4300)]


def test_p13_a_judge_that_failed_at_everything_is_told_of() -> None:
    frame = rows("error", "error", error_kind=["judge", "judge"])
    found = judge_figures(frame, known(frame, calibration()), "1.0.0")
    assert found is not None
    assert (found.items, found.unjudged, found.judges[0].items) == (0, 2, 0)
    assert (found.corrected_completion, found.corrected_reason) == (None, "no item was judged")


def test_position_bias_is_that_of_the_judging_model() -> None:
    frame = rows("pass", "fail")
    told = {"openai/one": [Preference("t", "tie", "a", "b")], "openai/other": [Preference("t", "a", "a", "a")]}
    found = judge_figures(frame, known(frame, preferences=told), "1.0.0")
    assert found is not None
    [bias] = found.position_bias
    assert (bias.model, bias.figures.first_place_share.value) == ("openai/one", 1.0)


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(rows("error", "timeout"), id="nothing-judged"),
        pytest.param(rows("pass").drop(columns="reasons"), id="it-cannot-be-told"),
    ],
)
def test_where_no_model_judged_nothing_is_said(frame: pd.DataFrame) -> None:
    assert judge_figures(frame, known(frame), "1.0.0") is None
    assert judge_figures(frame, JudgeKnowledge({}), "1.0.0") is None


class TestClaims:
    CLAIMS = ("openai/c", "claims 2")

    def told(self, frame: pd.DataFrame, *codes: str) -> pd.DataFrame:
        return frame.assign(reasons=pd.Series([[{"code": code}] for code in codes]))

    def test_who_verified_claims_is_told_where_no_model_gives_a_verdict(self) -> None:
        frame = rows("pass", "fail", "fail", "error", "pass", judge_tokens=[240, 240, None, 120, 120])
        told = ("CLAIMS_VERIFIED", "CLAIMS_VERIFIED", "CLAIM_UNSUPPORTED", "JUDGE_UNREADABLE", "NO_CLAIMS")
        frame = self.told(frame, *told).assign(error_kind=pd.Series([None, None, None, "judge", None]))
        found = judge_figures(frame, JudgeKnowledge({}, claims=dict.fromkeys(frame["task_id"], self.CLAIMS)), "1.0.0")
        assert found is not None
        [judge] = found.judges
        assert (judge.model, judge.prompt, judge.items, judge.unjudged, judge.tokens) == (*self.CLAIMS, 3, 1, 720)
        assert (found.items, found.unjudged) == (3, 1), "what the rules failed was shown to no model"
        assert (found.corrected_completion, found.corrected_reason) == (None, "models verified claims, and gave no verdict")
        assert found.length_bias.items == 0

    def test_beside_a_verdict_they_are_named_and_what_they_took_is_with_the_verdict(self) -> None:
        frame = rows("pass", "fail", judge_tokens=[360, 120])
        frame = self.told(frame, "CLAIMS_VERIFIED", "JUDGE_VERDICT")
        found = judge_figures(frame, known(frame, claims={"t0": self.CLAIMS}), "1.0.0")
        assert found is not None
        told = [(each.model, each.items, each.tokens) for each in found.judges]
        assert told == [("openai/c", 1, None), ("openai/one", 2, 480)]
        assert found.items == 2

    def test_without_a_claim_or_a_question_nobody_is_named(self) -> None:
        frame = self.told(rows("pass", judge_tokens=[None]), "NO_CLAIMS")
        assert judge_figures(frame, JudgeKnowledge({}, claims={"t0": self.CLAIMS}), "1.0.0") is None
