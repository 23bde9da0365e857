"""Weights are layered key by key and renormalised over what is configured."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.core.errors import InputError
from eval_skills.core.models import Weights
from eval_skills.scorers.task_scoring.verdict import DEFAULT_WEIGHTS, effective_weights, weighted_mean

NAMES = list(DEFAULT_WEIGHTS)


def test_the_task_beats_the_run_beats_the_defaults_key_by_key() -> None:
    weights = effective_weights(NAMES, Weights(tool_accuracy=0.4, output_quality=0.4), Weights(tool_accuracy=0.1))
    assert weights == {"tool_accuracy": 0.1, "output_quality": 0.4, "sequence_correctness": 0.2}


def test_p77_what_is_not_configured_has_no_weight() -> None:
    weights = effective_weights({"tool_accuracy", "output_quality"}, Weights(), None)
    mean = weighted_mean({"tool_accuracy": 0.5, "output_quality": 0.9}, weights)
    assert mean == pytest.approx(0.75)


def test_p61_weights_that_are_all_0_are_refused_at_load() -> None:
    with pytest.raises(InputError, match=r"^weights: every configured dimension weighs 0 \(tool_accuracy\); give at least one"):
        effective_weights({"tool_accuracy"}, Weights(), Weights(tool_accuracy=0))
    assert effective_weights({"output_quality"}, Weights(tool_accuracy=0), None) == {"output_quality": 0.5}


@pytest.mark.parametrize("of_task", [None, Weights(sequence_correctness=1)])
def test_weights_of_the_run_that_are_all_0_are_not_looked_for_in_the_task(of_task: Weights | None) -> None:
    said = r"^every configured dimension weighs 0 by the run's weights in the configuration or the call \(tool_accuracy\)"
    with pytest.raises(InputError, match=said):
        effective_weights({"tool_accuracy"}, Weights(tool_accuracy=0), of_task)


def test_no_dimension_has_no_mean() -> None:
    assert weighted_mean({}, {}) is None
    assert weighted_mean({"tool_accuracy": 1.0}, {"tool_accuracy": 0.0}) is None


@pytest.mark.parametrize("weight", [1e308, 1.0, 5e-324])
def test_p06_equal_weights_weigh_the_same_however_large_or_small(weight: float) -> None:
    scores = dict(zip(NAMES, (0.25, 2 / 3, 1.0), strict=True))
    assert weighted_mean(scores, dict.fromkeys(NAMES, weight)) == pytest.approx(0.6389, abs=1e-4)


def test_p06_a_weight_too_small_to_count_beside_another_counts_nothing() -> None:
    assert weighted_mean({"tool_accuracy": 1.0, "output_quality": 0.5}, {"tool_accuracy": 5e-324, "output_quality": 1e308}) == 0.5


@given(
    st.dictionaries(st.sampled_from(NAMES), st.floats(0, 1), min_size=1),
    st.lists(st.floats(1e-6, 1e6), min_size=3, max_size=3),
)
def test_p06_the_mean_stays_between_the_scores_and_within_0_and_1(scores: dict[str, float], raw: list[float]) -> None:
    mean = weighted_mean(scores, dict(zip(NAMES, raw, strict=True)))
    assert mean is not None
    assert 0 <= mean <= 1
    assert min(scores.values()) - 1e-9 <= mean <= max(scores.values()) + 1e-9
