"""What counts as a claim, and how it is read."""

from __future__ import annotations

from decimal import Decimal
from time import thread_time

import pytest

from eval_skills.scorers.claims.dates import Day
from eval_skills.scorers.claims.extraction import MAX_CLAIMS, claims_in
from tests.tables import each_row


def found(text: str) -> list[tuple[str, str]]:
    return [(claim.kind, claim.text) for claim in claims_in(text)]


@each_row(
    ("text", "value", "unit"),
    [
        ("1,000", "1000", None),
        ("1000", "1000", None),
        ("1e3", "1000", None),
        ("1'000", "1000", None),
        ("1\u202f000", "1000", None),
        ("12,34,567", "1234567", None),
        ("1.234,56", "1234.56", None),
        ("1.234.567", "1234567", None),
        ("3,14", "3.14", None),
        ("3.14", "3.14", None),
        (".5", "0.5", None),
        ("-5", "-5", None),
        ("−5", "-5", None),
        ("1.2 million", "1200000", None),
        ("5M", "5000000", None),
        ("10km", "10", None),
        ("2nd", "2", None),
        ("12.5%", "12.5", "%"),
        ("12.5 percent", "12.5", "%"),
        ("$1,250.50", "1250.50", "USD"),
        ("US$5", "5", "USD"),
        ("5 €", "5", "EUR"),
        ("EUR 5", "5", "EUR"),
        ("5 dollars", "5", "USD"),
        ("£1.2bn", "1200000000", "GBP"),
    ],
)
def test_numbers(text: str, value: str, unit: str | None) -> None:
    [claim] = claims_in(f"It is {text} now.")
    assert claim.kind == "number"
    assert claim.readings == (((Decimal(value), unit),),)


def test_blanks_between_groups_may_separate_numbers_too() -> None:
    assert claims_in("12 300")[0].readings == (((Decimal(12300), None),), ((Decimal(12), None), (Decimal(300), None)))
    assert claims_in("5 000")[0].readings == (((Decimal(5000), None),),)


@each_row(
    "text",
    [
        "GPT-4 and H2O in UTF-8", "version 3.11.4", "1. one\n 2) two", "as shown in [3]", "no claim at all", "", "say 'no'",
        "I am here. We are there.", "# Total Revenue Summary", "**Key Findings**\nall well", "Total Revenue: none",
        "| Net Income | Total Cost |\n|---|---|\n", "The Answer", "NASA", "the dogs' and cats' food", "a" * 50 + "-" + "9" * 3,
    ],
)  # fmt: skip
def test_what_is_no_claim(text: str) -> None:
    assert found(text) == []


@each_row(
    ("text", "day"),
    [
        ("2026-11-22", (2026, 11, 22)),
        ("2026/11/22", (2026, 11, 22)),
        ("22 November 2026", (2026, 11, 22)),
        ("22nd of November, 2026", (2026, 11, 22)),
        ("November 22, 2026", (2026, 11, 22)),
        ("Nov. 22nd", (None, 11, 22)),
        ("November 2026", (2026, 11, None)),
        ("22.11.2026", (2026, 11, 22)),
        ("11/22/2026", (2026, 11, 22)),
        ("29 February", (None, 2, 29)),
    ],
)
def test_dates(text: str, day: tuple[int | None, int, int | None]) -> None:
    [claim] = claims_in(f"On {text} it began.")
    assert (claim.kind, claim.text, claim.readings) == ("date", text, ((Day(*day),),))


def test_figures_that_can_be_two_dates_are_both() -> None:
    assert claims_in("03/04/2026")[0].readings == ((Day(2026, 4, 3),), (Day(2026, 3, 4),))


def test_what_is_no_date_in_any_calendar_is_none() -> None:
    assert "date" not in {kind for kind, _ in found("2026-13-45, 31 June 2026, 40/40/2026")}


@each_row(
    ("text", "claims"),
    [
        ('He said "yes, really" twice', [("quote", '"yes, really"')]),
        ("He said “yes, really” twice", [("quote", '"yes, really"')]),
        ("the term 'deep blue'", [("quote", "'deep blue'")]),
        ('a 5" and a 6" pipe', [("number", "5"), ("number", "6")]),
        ("See (https://x.org/a_(b)), please", [("url", "https://x.org/a_(b)")]),
        ("[here](https://x.org/a).", [("url", "https://x.org/a")]),
        ("www.x.org/a?b=1,", [("url", "www.x.org/a?b=1")]),
        ("mail bob.b@x.org.", [("email", "bob.b@x.org")]),
        ("order ORD-10442", [("identifier", "ORD-10442")]),
        ("at 3:05 pm", [("time", "3:05 pm")]),
        ("Yesterday it was Marie Curie's", [("name", "Marie Curie's")]),
        ("The Bank of England rose", [("name", "Bank of England")]),
        ("by Ludwig van Beethoven", [("name", "Ludwig van Beethoven")]),
        ("with Émile Zola", [("name", "Émile Zola")]),
        ('"42 of 2026" and 42', [("quote", '"42 of 2026"'), ("number", "42")]),
        ("42, 42.0 and forty-two 42", [("number", "42")]),
    ],
)
def test_texts(text: str, claims: list[tuple[str, str]]) -> None:
    assert found(text) == claims


def test_kinds_narrow_down_and_still_hide_what_they_hold() -> None:
    assert [claim.text for claim in claims_in('"4 owls" and 5 on 2026-01-02', ["number"])] == ["5"]


def test_a_text_of_endless_claims_is_cut() -> None:
    assert len(claims_in(", ".join(map(str, range(MAX_CLAIMS + 100))))) == MAX_CLAIMS


@pytest.mark.slow
@each_row(
    "piece",
    ["a", "9", "a.", "9,", "9 999 ", "A", "Aa ", "Aa", "Aa de ", '"', "'a", '"aaaa ', "a@", "a-", "a1-", "http://", "www.", "[1",
     " ", "\n", "-", "9:", "9-", "May ", "9.", "$", "é", "(", "**", "|---", "e9"],
)  # fmt: skip
def test_p08_no_text_takes_more_than_linear_time(piece: str) -> None:
    def cpu_s(length: int) -> float:
        text = (piece * length)[:length]
        began = thread_time()
        claims_in(text)
        return thread_time() - began

    # eight times the text: linear is a factor of 8, quadratic one of 64; it is measured again where something else took the time
    assert any(cpu_s(16_000) < 30 * max(cpu_s(2_000), 0.0005) for _ in range(3))
