"""Win rates of two skills, and what the place of an answer did."""

from __future__ import annotations

import pytest

from eval_skills.core.judging.pairs import Choice, Outcome, Preference, Vote, outcome_of
from eval_skills.core.judging.preferences import member_rates, position_bias, win_rates
from tests.tables import each_row


def pairs(*given: tuple[int, Choice, Choice]) -> list[Preference]:
    """`given` are (how many tasks, said with A first, said with B first)."""
    said = [(a_first, b_first) for count, a_first, b_first in given for _ in range(count)]
    return [Preference(f"t{n}", outcome_of(*orders), *orders) for n, orders in enumerate(said)]


@each_row(
    ("a_first", "b_first", "outcome"),
    [("a", "a", "a"), ("b", "b", "b"), ("tie", "tie", "tie"), ("a", "b", "tie"), ("b", "a", "tie"), ("a", "tie", "tie")],
)
def test_only_both_orders_together_make_a_winner(a_first: Choice, b_first: Choice, outcome: Choice) -> None:
    assert outcome_of(a_first, b_first) == outcome


def test_six_tasks_all_for_one_side_decide_and_five_cannot() -> None:
    six, five = win_rates(pairs((6, "a", "a"))), win_rates(pairs((5, "a", "a")))
    assert (six.verdict, six.p_value) == ("a", 0.03125)
    assert (five.verdict, five.p_value, five.p_floor) == ("undecided", 0.0625, 0.0625)
    assert win_rates(pairs((9, "b", "b"), (1, "a", "a"))).verdict == "b"


def test_the_task_is_the_unit_and_not_its_runs() -> None:
    runs = [Preference("t", "a", "a", "a") for _ in range(30)]
    found = win_rates(runs)
    assert (found.pairs, found.tasks, found.tasks_for_a, found.verdict) == (30, 1, 1, "undecided")
    assert (found.win_rate_a.value, found.win_rate_a.lower) == pytest.approx((1.0, 0.2065), abs=1e-4)


def test_rates_are_of_the_judged_pairs_and_errors_are_counted_apart() -> None:
    given = [*pairs((3, "a", "a"), (1, "b", "b"), (2, "a", "b")), Preference("same", "tie"), Preference("broken", "error")]
    found = win_rates(given)
    assert (found.pairs, found.wins_a, found.wins_b, found.ties, found.errors) == (7, 3, 1, 3, 1)
    assert (found.disagreements, found.identical) == (2, 1)
    rates = [found.win_rate_a.value, found.win_rate_b.value, found.tie_rate.value]
    assert sum(rate or 0 for rate in rates) == pytest.approx(1)


@each_row(
    ("between", "verdict"), [(("b", "a"), "undecided"), (("b", "tie"), "undecided"), (("tie", "a"), "a"), (("a", "a"), "a")]
)
def test_a_verdict_holds_however_open_pairs_would_have_gone(between: tuple[Choice, Choice], verdict: str) -> None:
    found = win_rates(pairs((7, "a", "a")), [Preference("open", "error", between=between)])
    assert (found.verdict, found.pairs, found.errors, found.open_pairs) == (verdict, 7, 0, 1)


def test_nothing_judged_is_no_rate() -> None:
    found = win_rates([Preference("t", "error")])
    assert (found.pairs, found.errors, found.win_rate_a.value, found.p_value, found.position_bias) == (0, 1, None, None, None)
    assert found.verdict == "undecided"


def test_a_judge_that_always_takes_the_first_place_is_found_out() -> None:
    """31 pairs in which the first place won twice, 9 in which the second did."""
    bias = position_bias(pairs((31, "a", "b"), (9, "b", "a")))
    assert bias is not None
    assert (bias.both_first, bias.both_second) == (31, 9)
    assert bias.p_value == pytest.approx(0.0007, abs=5e-5)
    assert (bias.first_place_share.value, bias.consistent_share.value) == (62 / 80, 0.0)
    assert position_bias(pairs((26, "a", "b"), (14, "b", "a"))).p_value == pytest.approx(0.081, abs=1e-3)  # type: ignore[union-attr]


def test_a_steady_judge_gives_the_first_place_half_of_its_verdicts() -> None:
    bias = position_bias(pairs((8, "a", "a"), (3, "b", "b")))
    assert bias is not None
    assert (bias.first_place_share.value, bias.consistent_share.value, bias.p_value) == (0.5, 1.0, 1.0)


def test_ties_alone_say_nothing_of_the_place() -> None:
    bias = position_bias(pairs((4, "tie", "tie")))
    assert bias is not None
    assert (bias.pairs, bias.first_place_share.value, bias.consistent_share.value) == (4, None, 1.0)
    assert position_bias([Preference("t", "tie")]) is None


class TestPanels:
    def said(self, task: str, outcome: Outcome, *said: tuple[str, Outcome, Choice | None, Choice | None]) -> Preference:
        return Preference(
            task, outcome, votes=tuple(Vote(model, 1, its, a_first, b_first) for model, its, a_first, b_first in said)
        )

    @property
    def pairs(self) -> list[Preference]:
        return [
            self.said("t0", "a", ("one", "a", "a", "a"), ("two", "a", "a", "a"), ("three", "tie", "a", "b")),
            self.said("t1", "tie", ("one", "a", "a", "a"), ("two", "b", "b", "b"), ("three", "tie", "a", "b")),
            self.said("t2", "b", ("one", "error", None, None), ("two", "b", "b", "b"), ("three", "b", "b", "b")),
            self.said("t3", "error", ("one", "error", None, None), ("two", "a", "a", "a"), ("three", "error", None, None)),
            Preference("t4", "tie"),
        ]

    def test_its_verdicts_are_counted_once_each(self) -> None:
        found = win_rates(self.pairs)
        assert (found.wins_a, found.wins_b, found.ties, found.errors) == (1, 1, 2, 1)
        assert (found.split, found.disagreements, found.identical) == (1, 0, 1)
        assert found.agreement == pytest.approx((2 / 3 + 1 / 3 + 1) / 3), "equal answers say nothing of it"

    def test_the_place_is_that_of_every_vote(self) -> None:
        bias = position_bias(self.pairs)
        assert bias is not None
        assert (bias.pairs, bias.both_first, bias.consistent_share.value) == (9, 2, 7 / 9)

    def test_each_model_has_its_own_rates(self) -> None:
        one, two, three = member_rates(["one", "two", "three"], self.pairs)
        assert (one.figures.wins_a, one.figures.wins_b, one.figures.ties, one.figures.errors) == (2, 0, 1, 2)
        assert (two.figures.wins_a, two.figures.wins_b, two.figures.errors) == (2, 2, 0)
        assert [each.agreement for each in (one, two, three)] == pytest.approx([0.5, 2 / 3, 2 / 3])
        assert one.figures.position_bias is not None
        assert three.figures.position_bias is not None
        assert (one.figures.position_bias.consistent_share.value, three.figures.disagreements) == (1.0, 2)
        assert one.figures.agreement is None, "one vote agrees with nobody"

    def test_a_model_that_never_answered_has_no_agreement(self) -> None:
        [found] = member_rates(["one"], [self.said("t", "a", ("one", "error", None, None), ("two", "a", "a", "a"))])
        assert (found.agreement, found.figures.pairs, found.figures.errors) == (None, 0, 1)
