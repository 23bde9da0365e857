"""Who is sampled: decided by seed and id, and by nothing else."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.core.monitoring import is_sampled
from tests.tables import each_row

IDS = [f"interaction-{number}" for number in range(20_000)]


def drawn(ids: list[str], rate: float, seed: int) -> set[str]:
    return {each for each in ids if is_sampled(each, rate=rate, seed=seed)}


@each_row("rate", [0.001, 0.1, 0.5, 0.9])
def test_about_that_share_is_drawn(rate: float) -> None:
    deviation = (rate * (1 - rate) / len(IDS)) ** 0.5
    assert abs(len(drawn(IDS, rate, 7)) / len(IDS) - rate) < 4 * deviation


@pytest.mark.slow
def test_p94_the_same_seed_draws_the_same_ones_in_any_order() -> None:
    shuffled = random.Random(1).sample(IDS, len(IDS))
    assert drawn(IDS, 0.1, 3) == drawn(shuffled, 0.1, 3)
    assert drawn(IDS, 0.1, 3) != drawn(IDS, 0.1, 4)


def test_the_draw_is_the_same_on_every_machine_and_for_ever() -> None:
    assert [number for number in range(40) if is_sampled(str(number), rate=0.1, seed=0)] == [3, 7, 18, 23, 24, 31, 37]


@given(st.text(), st.integers(0, 2**63 - 1))
def test_a_rate_of_1_takes_all(interaction_id: str, seed: int) -> None:
    assert is_sampled(interaction_id, rate=1.0, seed=seed)


@given(st.text(), st.floats(1e-6, 1), st.floats(1e-6, 1))
def test_a_higher_rate_draws_whom_the_lower_one_drew(interaction_id: str, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert is_sampled(interaction_id, rate=high, seed=5) >= is_sampled(interaction_id, rate=low, seed=5)


def test_half_an_emoji_is_an_id_too() -> None:
    assert is_sampled("\ud83d", rate=1.0, seed=0)
