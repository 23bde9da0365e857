"""Messages show foreign values in bounded length."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.text import EXCERPT_CHARS, apart, beside, exact, excerpt, first_of, natural_order, one_line, percents_apart
from tests.tables import each_row


@each_row(
    ("value", "text"),
    [("a\nb", '"a\\nb"'), ({"k": [1, None, True]}, '{"k": [1, null, true]}'), ("grün", '"grün"'), ({1}, '"{1}"')],
)
def test_short_values_are_shown_whole_on_one_line(value: Any, text: str) -> None:
    assert excerpt(value) == text


@pytest.mark.parametrize("value", ["x" * 10_000_000, ["x" * 1000] * 100_000, {"k" * 1000: 1}], ids=["text", "list", "key"])
def test_long_values_are_cut(value: Any) -> None:
    assert len(excerpt(value)) == EXCERPT_CHARS + 1


def test_what_no_file_could_hold_is_escaped() -> None:
    assert excerpt("half \ud800") == '"half \\ud800"'
    assert excerpt(["\ud800"]).encode("utf-8")


def test_one_line_folds_white_space() -> None:
    assert one_line(" a\n\n b\t") == "a b"


@each_row(
    ("text", "shown"),
    [
        pytest.param("a\n  b\tc", "a b c", id="blanks-collapse"),
        pytest.param("x" * 301, "x" * 300 + "…", id="cut-is-marked"),
        pytest.param("x" * 300, "x" * 300, id="at-the-limit-is-whole"),
        pytest.param("a" + " " * 5000 + "b", "a…", id="what-lies-far-behind-is-marked-too"),
    ],
)
def test_one_line_is_cut_with_a_mark(text: str, shown: str) -> None:
    assert one_line(text) == shown


@pytest.mark.parametrize(("shown", "said"), [(3, "a, b, c"), (2, "a, b and 1 more")])
def test_the_first_names_and_how_many_more_there_are(shown: int, said: str) -> None:
    assert first_of(["a", "b", "c"], shown) == said


def test_numbers_in_names_are_sorted_by_their_size() -> None:
    names = ["t-2-1", "", "10", "c9", "t-1-12", "c10", "9", "t-1-2", "b", f"c{'9' * 5000}"]
    assert sorted(names, key=natural_order) == ["", "9", "10", "b", "c9", "c10", names[-1], "t-1-2", "t-1-12", "t-2-1"]


@each_row(
    ("numbers", "decimals", "shown"),
    [
        pytest.param((0.65, 0.8), 1, ["0.7", "0.8"], id="that-differ"),
        pytest.param((13.2, 13.0), 0, ["13.2", "13"], id="that-would-look-the-same"),
        pytest.param((1234.0, 1000.0), 0, ["1,234", "1,000"], id="thousands"),
        pytest.param((0.5, 0.5), 1, ["0.5", "0.5"], id="equal"),
        pytest.param((0.0, -0.0), 1, ["0.0", "0.0"], id="0-has-no-sign"),
        pytest.param((0.3, 0.1 + 0.2), 1, ["0.3", "0.3"], id="binary-fractions"),
    ],
)
def test_numbers_that_differ_look_so(numbers: tuple[float, ...], decimals: int, shown: list[str]) -> None:
    assert apart(*numbers, decimals=decimals) == shown


@each_row(
    ("value", "limit", "shown"),
    [
        pytest.param(2 / 3, 0.7, "0.6667", id="far-from-it"),
        pytest.param(0.69999, 0.7, "0.69999", id="below-it"),
        pytest.param(2 / 3, 0.6667, "0.66667", id="below-it-by-its-own-digits"),
        pytest.param(0.1 + 0.6, 0.7, "0.7", id="binary-fractions"),
    ],
)
def test_a_number_beside_a_limit_shows_on_which_side_it_lies(value: float, limit: float, shown: str) -> None:
    assert beside(value, limit) == shown


@each_row(
    ("limit", "shown"),
    [
        pytest.param(0.5, "0.5", id="short"),
        pytest.param(80.0, "80", id="whole"),
        pytest.param(1e9, "1e+09", id="large"),
        pytest.param(0.98765432, "0.98765432", id="more-than-six-digits"),
    ],
)
def test_a_limit_is_shown_as_the_number_that_it_is(limit: float, shown: str) -> None:
    assert exact(limit) == shown


@each_row(
    ("rates", "shown"),
    [
        pytest.param((0.65, 0.8), ["65.0", "80.0"], id="plain"),
        pytest.param((2999 / 3000, 0.99999), ["99.967", "99.999"], id="near-each-other-and-1"),
        pytest.param((2999 / 3000, 1.0), ["99.97", "100.0"], id="only-all-is-100"),
        pytest.param((1 / 3000, 0.0), ["0.03", "0.0"], id="only-nothing-is-0"),
        pytest.param((0.00001, 0.5), ["0.001", "50.0"], id="nearly-nothing"),
    ],
)
def test_rates_that_differ_look_so_and_none_is_rounded_to_all_or_nothing(rates: tuple[float, ...], shown: list[str]) -> None:
    assert percents_apart(*rates) == shown
