"""The words of the smallest edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.scorers.trajectory import create_trajectory_match_evaluator

if TYPE_CHECKING:
    from tests.scorers.trajectory.conftest import Chat


def comment(output: Any, reference: Any, mode: str = "unordered", **options: Any) -> str | None:
    evaluator = create_trajectory_match_evaluator(trajectory_match_mode=mode, **options)  # type: ignore[arg-type]
    return evaluator(outputs=output, reference_outputs=reference)["comment"]


def test_p93_missing_and_extra_calls(chat: type[Chat]) -> None:
    one, other = chat.asks(chat.call("search", q="x")), chat.asks(chat.call("book", id=7))
    assert comment([one], [one, other]) == "missing: book(id=7)"
    assert comment([one, other], [other]) == 'extra: search(q="x")'
    assert comment([one], [other]) == 'missing: book(id=7); extra: search(q="x")'


def test_what_the_mode_allows_is_no_edit(chat: type[Chat]) -> None:
    one, other = chat.asks(chat.call("search")), chat.asks(chat.call("book"))
    assert comment([one], [other], "superset") == "missing: book()"
    assert comment([one], [other], "subset") == "extra: search()"


def test_p93_other_arguments_are_one_edit_not_two(chat: type[Chat]) -> None:
    output, reference = chat.asks(chat.call("search", q="x", limit=5)), chat.asks(chat.call("search", q="x", limit=10, page=1))
    for mode in ("unordered", "superset", "subset"):
        assert comment([output], [reference], mode) == "search: limit expected 10, got 5, page expected 1, got nothing"
    said = comment([output], [reference], tool_args_match_mode="subset")
    assert said == "search: limit expected 10, got 5"
    said = comment([output], [reference], tool_args_match_overrides={"search": ["page", "nope", "q"]})
    assert said == "search: page expected 1, got nothing, nope is on neither side"


def test_the_nearest_call_of_the_tool_is_the_one_to_change(chat: type[Chat]) -> None:
    output = chat.asks(chat.call("a", x=1, y=2, z=3), chat.call("a", x=7, y=8, z=9))
    reference = chat.asks(chat.call("a", x=7, y=8, z=0))
    assert comment([output], [reference]) == "a: z expected 0, got 9; extra: a(x=1, y=2, z=3)"


def test_a_refusing_function_is_named(chat: type[Chat]) -> None:
    sides = [chat.asks(chat.call("a", x=1))], [chat.asks(chat.call("a", x=2))]
    said = comment(*sides, tool_args_match_overrides={"a": lambda *_: False})
    assert said == 'a: refused by its matcher, expected {"x": 2}, got {"x": 1}'


def test_another_spelling_is_named(chat: type[Chat]) -> None:
    sides = [chat.asks(chat.call("bookRoom"))], [chat.asks(chat.call("book_room"))]
    assert comment(*sides) == "book_room: called as 'bookRoom', which is another spelling"


def test_malformed_arguments_are_the_reason(chat: type[Chat]) -> None:
    malformed = chat.asks({"function": {"name": "a", "arguments": "{bad"}})
    assert comment([malformed], [chat.asks(chat.call("a"))]) == 'a: the arguments are not a JSON object: a("{bad")'
    assert comment([malformed], []) == 'extra: a("{bad"), whose arguments are not a JSON object'
    assert comment([chat.asks({})], []) == "extra: call without a name({}), whose arguments are not a JSON object"


def test_p93_strict_names_the_message(chat: type[Chat]) -> None:
    asks = chat.asks(chat.call("a", x=1))
    reference = [chat.user, asks, chat.tool, chat.answer]
    assert comment([chat.user, asks, chat.answer, chat.answer], reference, "strict") == "message 3: expected tool, got assistant"
    assert comment([chat.user, asks, chat.answer], reference, "strict") == "missing: message 3 of the reference (tool)"
    assert comment([chat.user, chat.user, *reference[1:]], reference, "strict") == "extra: message 2 (user)"
    assert comment([chat.user, chat.tool, chat.answer], reference, "strict") == "missing: a(x=1) in message 2 of the reference"
    other = chat.asks(chat.call("a", x=2))
    assert comment([chat.user, other, *reference[2:]], reference, "strict") == "message 2: a: x expected 1, got 2"


def test_one_dropped_message_does_not_shift_the_blame(chat: type[Chat]) -> None:
    rounds = [message for number in range(8) for message in (chat.asks(chat.call("step", n=number)), chat.tool)]
    assert comment([*rounds[:5], *rounds[6:]], rounds, "strict") == "missing: message 6 of the reference (tool)"


def test_of_very_many_edits_the_first_are_shown(chat: type[Chat]) -> None:
    said = comment([], [chat.asks(*(chat.call("a", n=number) for number in range(30)))]) or ""
    assert said.startswith("missing: a(n=0); missing: a(n=1); ")
    assert said.endswith("missing: a(n=19); and 10 more")


@pytest.mark.parametrize("mode", ["strict", "unordered"])
def test_untrusted_words_stay_on_one_short_line(chat: type[Chat], mode: str) -> None:
    nested: Any = 1
    for _ in range(5_000):
        nested = [nested]
    names = ["a\nb", "\ud800", "x" * 10**6]
    raw = [{"name": name, "args": {"k\r\n" * 1000: value}} for name in names for value in ("v" * 10**6, "\u2028\n", nested)]
    said = comment([chat.asks(*raw)], [chat.user], mode) or ""
    assert "\n" not in said
    assert "\r" not in said
    assert len(said.encode()) < 10_000
