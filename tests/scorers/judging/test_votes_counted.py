"""What votes come to, and whose words count: below the models."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean
from typing import TypeVar

import pytest

from eval_skills.core.errors import JudgeError
from eval_skills.core.judging.pairs import Choice
from eval_skills.scorers.judging.aggregation import consensus_of, decide
from eval_skills.scorers.judging.comparison import Compared, PreferenceVotes
from eval_skills.scorers.judging.grading import Grade, GradedVotes, Grading
from eval_skills.scorers.judging.judge import Ruling
from eval_skills.scorers.judging.panel import Aggregate, Panel, Vote, Votes
from eval_skills.scorers.rubric.results import DimensionResult, settled
from eval_skills.scorers.score import Score

T = TypeVar("T")

PANEL = Panel(models=("a", "b", "c"), votes=3)
GRADING = Grading.of()


@pytest.mark.parametrize("aggregate", ["mean", "median"])
def test_equal_votes_come_to_that_very_value(aggregate: Aggregate) -> None:
    assert fmean((0.8, 0.8, 0.8)) != 0.8
    panel = Panel(models=("a", "b", "c"), votes=3, aggregate=aggregate)
    cast = ballots(lambda _, value: value, c=(0.8, 0.8, 0.8), others=(0.8, 0.8))
    assert decide(panel, cast, lambda value: value, 0.7).value == 0.8
    assert consensus_of(panel, cast, lambda value: value).value == 0.8


@pytest.mark.parametrize(("present", "enough"), [(1, False), (2, False), (3, True)])
def test_half_of_the_members_are_no_quorum(present: int, enough: bool) -> None:
    failed = JudgeError("out of order", code="JUDGE_UNAVAILABLE")
    members = [Vote(f"m{n}", 0, 0.8) if n < present else Vote(f"m{n}", 0, error=failed) for n in range(4)]
    assert (Votes(tuple(members)).too_few is None) is enough


@pytest.mark.parametrize(
    ("aggregate", "given", "passed"),
    [
        pytest.param("median", (0.9, 0.2, None), None, id="the-others-split"),
        pytest.param("median", (0.9, 0.7, None), True, id="the-others-pass-it"),
        pytest.param("median", (0.1, 0.2, None), False, id="the-others-fail-it"),
        pytest.param("majority", (0.9, 0.2, None), None, id="no-majority-without-it"),
        pytest.param("majority", (0.9, 0.7, None), True, id="a-majority-of-all"),
        pytest.param("majority", (0.9, 0.8, 0.2, None), None, id="half-of-all-is-none"),
        pytest.param("mean", (0.9, 0.2, None), False, id="a-mean-is-of-those-that-vote"),
    ],
)
def test_an_answer_has_no_verdict_where_a_missing_model_could_decide_if_it_passes(
    aggregate: Aggregate, given: tuple[float | None, ...], passed: bool | None
) -> None:
    failed = JudgeError("out of order", code="JUDGE_UNAVAILABLE")
    named = [(f"m{n}", value) for n, value in enumerate(given)]
    cast = [Vote(m, 0, error=failed) if value is None else Vote(m, 0, ruling(m, value)) for m, value in named]
    votes = GradedVotes(Panel(models=tuple(m for m, _ in named), aggregate=aggregate), GRADING, 0.7, Votes(tuple(cast)))
    if passed is not None:
        assert votes.score(code="JUDGED", where="output", version="1").passed is passed
        return
    with pytest.raises(JudgeError, match=rf"only {len(cast) - 1} of {len(cast)} votes .* could decide; out of order"):
        votes.score(code="JUDGED", where="output", version="1")


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        pytest.param(("a", "b", None), "error", id="the-others-split"),
        pytest.param(("a", "tie", None), "error", id="one-side-and-a-tie"),
        pytest.param(("a", "a", None), "a", id="the-others-decide"),
        pytest.param(("tie", "tie", None), "tie", id="no-majority-without-the-others"),
        pytest.param(("a", "b", "tie"), "tie", id="all-are-there"),
        pytest.param(("a", "a", "b", None), "error", id="half-of-all-models"),
    ],
)
def test_a_pair_has_no_verdict_where_a_missing_model_could_decide_it(said: tuple[Choice | None, ...], outcome: str) -> None:
    failed = JudgeError("out of order", code="JUDGE_UNAVAILABLE")
    cast = [Vote(f"m{n}", 0, error=failed) if each is None else Vote(f"m{n}", 0, Compared(each)) for n, each in enumerate(said)]
    found = PreferenceVotes(Panel(models=tuple(vote.member for vote in cast)), Votes(tuple(cast)))
    assert (found.outcome, found.row()["outcome"], found.error is not None) == (outcome, outcome, outcome == "error")
    if found.error is not None:
        given = f"only {len(cast) - 1} of {len(cast)} votes of the panel were given"
        assert str(found.error) == f"{given}, and what is missing could decide; out of order"


def ballots(of: Callable[[str, float], T], *, c: tuple[float | None, ...], others: tuple[float, float]) -> Votes[T]:
    """Three votes of each member; those of c as they are given, None for one that failed."""
    votes = {"a": others[:1] * 3, "b": others[1:] * 3, "c": c}
    gone = JudgeError("gone", code="JUDGE_MODEL")
    return Votes(
        tuple(
            Vote(name, vote, error=gone) if value is None else Vote(name, vote, of(name, value))
            for name, values in votes.items()
            for vote, value in enumerate(values)
        )
    )


def ruling(name: str, value: float) -> Ruling[Grade]:
    return Ruling(GRADING.reply.model_validate({"reasoning": f"{name} says so", "score": value}), name)


def result(name: str, value: float) -> DimensionResult:
    return DimensionResult(name="tone", score=value, given=f"{value}", why=f"{name} says so")


def graded(*c: float | None) -> Score:
    votes = GradedVotes(PANEL, GRADING, 0.7, ballots(ruling, c=c, others=(0.9, 0.7)))
    return votes.score(code="JUDGED", where="output", version="1")


def test_a_missing_member_counts_for_nothing() -> None:
    cast = ballots(lambda name, _: name, c=(None, 0.8, None), others=(0.9, 0.7))
    assert (cast.given, cast.counted) == ([*"aaabbbc"], [*"aaabbb"])


def test_a_missing_member_does_not_say_why() -> None:
    """Though the one vote it gave is the nearest to what the panel says."""
    message = graded(None, 0.8, None).reasons[0].message
    assert "expected a score of at least 0.7, got 0.8: " in message
    assert "c says so" not in message
    assert "c says so" in graded(0.8, 0.8, None).reasons[0].message, "with two of three it is there"


def test_a_missing_member_was_not_outvoted() -> None:
    assert [each.code for each in graded(None, 0.1, None).reasons] == ["JUDGED"]
    assert [each.code for each in graded(0.1, 0.1, None).reasons] == ["JUDGED", "JUDGE_DISSENT"]


def test_a_missing_member_does_not_say_why_a_dimension_has_its_score() -> None:
    assert settled(PANEL, ballots(result, c=(None, 0.8, None), others=(0.9, 0.7))).why != "c says so"
    assert settled(PANEL, ballots(result, c=(0.8, 0.8, None), others=(0.9, 0.7))).why == "c says so"
