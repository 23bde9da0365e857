"""What a report says of the models that judged."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pytest

from eval_skills.core.calibration import Calibration, LabelledItem, calibrate
from eval_skills.core.judge_report import JudgeKnowledge, judge_figures
from eval_skills.core.preferences import Preference

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


CALIBRATED = calibration()


def test_the_corrected_rate_stands_beside_the_raw_one() -> None:
    frame = rows(*["pass"] * 70, *["fail"] * 30)
    found = judge_figures(frame, known(frame, CALIBRATED), "1.0.0")
    assert found is not None
    assert found.corrected_completion is not None
    assert found.corrected_completion.value == pytest.approx(0.5 / 0.7)
    assert found.corrected_reason is None
    [judge] = found.judges
    assert (judge.items, judge.calibration is not None and judge.calibration.labels) == (100, 100)


@pytest.mark.parametrize(
    ("calibrations", "reason"),
    [
        pytest.param([], "openai/one is not calibrated on this benchmark; see eval-skills judge calibrate", id="never"),
        pytest.param([calibration("0.9.0")], "was calibrated on version 0.9.0 of this benchmark", id="another-version"),
        pytest.param([calibration(passes=(5, 5), fails=(5, 5))], "no better than chance", id="a-coin"),
        pytest.param(
            [calibration(passes=(9, 0), fails=(2, 0))], "too few labels: 9 that say pass and 2 that say fail", id="too-few-fail"
        ),
        pytest.param([calibration(passes=(4, 0), fails=(5, 0))], "at least 10 with 3 of each kind are needed", id="too-few"),
        pytest.param([calibration(fails=(0, 0))], "no label says fail", id="no-failure-labelled"),
    ],
)
def test_what_cannot_be_corrected_is_none_with_a_reason(calibrations: list[Calibration], reason: str) -> None:
    frame = rows("pass", "fail", "pass")
    found = judge_figures(frame, known(frame, *calibrations), "1.0.0")
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
    found = judge_figures(frame, known(frame, CALIBRATED), "1.0.0")
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
        pytest.param(rows("pass", "fail", "pass").drop(columns="output"), "the answers are not at hand", id="no-answers"),
    ],
)
def test_no_length_bias_is_none_and_never_zero(frame: pd.DataFrame, reason: str) -> None:
    found = judge_figures(frame, known(frame), "1.0.0")
    assert found is not None
    assert (found.length_bias.spearman, found.length_bias.rating, found.length_bias.reason) == (None, None, reason)


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
