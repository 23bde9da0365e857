"""One pair of answers: what the votes of several models come to."""

from __future__ import annotations

import pytest

from eval_skills.core.judging.pairs import Choice, Outcome, Preference, Vote, bounds_of, majority_of, members_of
from tests.tables import each_row


def votes(**said: str) -> tuple[Vote, ...]:
    """Votes by model, one letter each: a, b, t(ie) and x for one that was not given; a tie of disagreeing orders is d."""
    letters: dict[str, tuple[Outcome, Choice | None, Choice | None]] = {
        "a": ("a", "a", "a"),
        "b": ("b", "b", "b"),
        "t": ("tie", "tie", "tie"),
        "d": ("tie", "a", "b"),
        "x": ("error", None, None),
    }
    return tuple(Vote(model, n, *letters[each]) for model, given in said.items() for n, each in enumerate(given, 1))


@each_row(
    ("choices", "majority"),
    [
        pytest.param(["a", "a", "b"], "a", id="two-of-three"),
        pytest.param(["a", "b"], "tie", id="half-is-none"),
        pytest.param(["a", "tie", "tie"], "tie", id="most-see-none"),
        pytest.param(["a", "a", "b", "tie"], "tie", id="the-most-are-not-more-than-half"),
        pytest.param(["b"], "b", id="one"),
    ],
)
def test_only_more_than_half_make_a_winner(choices: list[Choice], majority: Choice) -> None:
    assert majority_of(choices) == majority


def test_a_model_is_missing_without_more_than_half_of_its_votes_and_where_what_it_says_depends_on_the_others() -> None:
    cast = votes(one="aab", two="axx", three="aax", four="abt", five="abx", six="ttxx")
    assert members_of(cast) == {"one": "a", "two": None, "three": "a", "four": "tie", "five": None, "six": None}


@each_row(
    ("given", "between"),
    [
        pytest.param({"one": "a", "two": "b", "three": "x"}, ("b", "a"), id="the-others-split"),
        pytest.param({"one": "a", "two": "t", "three": "x"}, ("tie", "a"), id="one-side-and-a-tie"),
        pytest.param({"one": "a", "two": "a", "three": "x"}, ("a", "a"), id="the-others-decide"),
        pytest.param({"one": "t", "two": "t", "three": "x"}, ("tie", "tie"), id="nobody-is-left-to-make-a-majority"),
        pytest.param({"one": "a", "two": "a", "three": "b", "four": "x"}, ("tie", "a"), id="half-of-four"),
        pytest.param({"one": "abx"}, ("b", "a"), id="votes-of-one-model"),
        pytest.param({"one": "abx", "two": "a", "three": "a"}, ("a", "a"), id="a-model-of-which-nothing-depends"),
    ],
)
def test_what_a_verdict_may_come_to_with_the_votes_that_are_missing(given: dict[str, str], between: tuple[str, str]) -> None:
    assert bounds_of(votes(**given)) == between


@each_row(
    ("given", "outcome", "agreement"),
    [
        pytest.param({"one": "a", "two": "a", "three": "b"}, "a", 2 / 3, id="outvoted"),
        pytest.param({"one": "a", "two": "a", "three": "x"}, "a", 1.0, id="a-missing-model-is-no-voice"),
        pytest.param({"one": "aab", "two": "aaa", "three": "bbb"}, "a", 2 / 3, id="models-count-and-not-their-votes"),
        pytest.param({"one": "aab"}, "a", 2 / 3, id="of-a-single-model-its-votes"),
        pytest.param({"one": "a", "two": "b"}, "tie", 0.0, id="nobody-says-tie"),
        pytest.param({"one": "a"}, "a", None, id="one-vote"),
        pytest.param({"one": "a", "two": "x"}, "error", None, id="no-verdict"),
    ],
)
def test_the_agreement_is_the_share_that_says_what_the_verdict_is(
    given: dict[str, str], outcome: Outcome, agreement: float | None
) -> None:
    assert Preference("t", outcome, votes=votes(**given)).agreement == pytest.approx(agreement)


@each_row(
    ("given", "split", "disagree"),
    [
        pytest.param({"one": "a", "two": "b"}, True, False, id="one-each"),
        pytest.param({"one": "a", "two": "b", "three": "t"}, True, False, id="all-differ"),
        pytest.param({"one": "t", "two": "b"}, True, False, id="half-say-tie"),
        pytest.param({"one": "d", "two": "b"}, True, False, id="half-say-tie-by-place"),
        pytest.param({"one": "t", "two": "b", "three": "t"}, False, False, id="most-see-none"),
        pytest.param({"one": "d", "two": "b", "three": "t"}, False, True, id="a-tie-by-place"),
    ],
)
def test_why_a_panel_has_a_tie(given: dict[str, str], split: bool, disagree: bool) -> None:
    found = Preference("t", "tie", votes=votes(**given))
    assert (found.is_split, found.orders_disagree, found.is_identical) == (split, disagree, False)


def test_equal_answers_are_no_error_without_votes() -> None:
    assert Preference("t", "tie").is_identical
    assert not Preference("t", "error").is_identical
