from __future__ import annotations

from typing import Any

import pytest

from eval_skills.adapters.http.config import HttpConfig, UsageHeaders
from eval_skills.adapters.http.usage import UsageReader
from tests.tables import each_row


def accounting(*paths: str, cost: str | None = None, headers: bool = False, cost_header: str | None = None) -> UsageReader:
    named = UsageHeaders(prompt_tokens="X-In", completion_tokens="X-Out") if headers else None
    return UsageReader(HttpConfig(usage_path=list(paths), cost_path=cost, usage_headers=named, cost_header=cost_header))


def tokens(known: dict[str, Any]) -> tuple[int | None, int | None]:
    return (known["usage"].prompt_tokens, known["usage"].completion_tokens)


@each_row(
    ("usage", "expected"),
    [
        pytest.param({"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}, (5, 2), id="openai-chat"),
        pytest.param(
            {"input_tokens": 5, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}}, (5, 2), id="openai-responses"
        ),
        pytest.param({"input_tokens": 5, "output_tokens": 2}, (5, 2), id="anthropic"),
        pytest.param(
            {"input_tokens": 5, "output_tokens": 2, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 100},
            (115, 2),
            id="anthropic-cached-tokens-are-beside",
        ),
        pytest.param(
            {"prompt_tokens": 115, "completion_tokens": 2, "cache_read_input_tokens": 100},
            (115, 2),
            id="gateway-counts-them-within",
        ),
        pytest.param({"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": None}, (5, 2), id="null-is-none"),
        pytest.param({"promptTokens": 5, "completionTokens": 0}, (5, 0), id="ours"),
        pytest.param({"output_tokens": 9, "input_tokens": None}, (None, 9), id="half-is-known"),
    ],
)
def test_shapes(usage: dict[str, Any], expected: tuple[int | None, int | None]) -> None:
    account = accounting("/usage")
    account.read_body({"usage": usage})
    assert tokens(account.known()) == expected


def test_what_is_not_said_is_unknown_and_not_zero() -> None:
    account = accounting("/usage", cost="/cost", headers=True, cost_header="X-Cost")
    account.read_body({"usage": None})
    account.read_body([])
    account.read_headers({})
    assert account.known() == {}


def test_the_events_of_a_stream_add_what_they_know() -> None:
    account = accounting("/message/usage", "/usage")
    account.read_body({"message": {"usage": {"input_tokens": 5, "output_tokens": 1}}})
    account.read_body({"usage": {"output_tokens": 9}})
    assert tokens(account.known()) == (5, 9)


def test_the_last_event_of_a_stream_takes_nothing_back() -> None:
    account = accounting("/message/usage", "/usage")
    account.read_body({"message": {"usage": {"input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 1}}})
    account.read_body({"usage": {"input_tokens": 0, "output_tokens": 9}})
    account.read_body({"usage": {"input_tokens": 5, "output_tokens": 9}})
    assert tokens(account.known()) == (105, 9)


def test_headers_say_what_the_body_does_not() -> None:
    account = accounting("/usage", headers=True, cost_header="X-Cost")
    account.read_body({"usage": {"output_tokens": 9}})
    account.read_headers({"X-In": " 5 ", "X-Out": "7", "X-Cost": "0.25"})
    known = account.known()
    assert tokens(known) == (5, 9)
    assert known["cost_usd"] == 0.25


@pytest.mark.parametrize("cost", [0, 0.5, 1_000_000])
def test_a_cost_in_the_body(cost: float) -> None:
    account = accounting(cost="/meta/usd")
    account.read_body({"meta": {"usd": cost}})
    assert account.known() == {"cost_usd": cost}


@each_row(
    ("body", "message"),
    [
        pytest.param({"usage": "high"}, "usagePath '/usage' leads to no number of tokens", id="text"),
        pytest.param({"usage": {"tokens": 5}}, "usagePath '/usage' leads to no number of tokens", id="unknown-shape"),
        pytest.param({"usage": {"prompt_tokens": -1}}, "leads to '-1' as prompt_tokens", id="negative"),
        pytest.param({"usage": {"prompt_tokens": True}}, "leads to 'True' as prompt_tokens", id="bool"),
        pytest.param({"usage": {"prompt_tokens": 1.5}}, "leads to '1.5' as prompt_tokens", id="fraction"),
        pytest.param({"usage": {"prompt_tokens": 10**13}}, "which is not a number of tokens", id="nonsense"),
        pytest.param(
            {"usage": {"input_tokens": 1, "cache_read_input_tokens": "x"}}, "leads to 'x' as cache_read_input_tokens", id="cached"
        ),
        pytest.param({"cost": "0.5"}, "costPath '/cost' leads to '0.5', which is not an amount in USD", id="cost-text"),
        pytest.param({"cost": -1}, "leads to '-1', which is not an amount", id="cost-negative"),
        pytest.param({"cost": True}, "leads to 'True', which is not an amount", id="cost-bool"),
    ],
)
def test_what_is_no_count_is_said_and_unknown(body: dict[str, Any], message: str) -> None:
    account = accounting("/usage", cost="/cost")
    account.read_body(body)
    account.read_body(body)
    [problem] = account.problems
    assert message in problem
    assert account.known() == {}


@each_row(
    ("headers", "message"),
    [
        pytest.param({"X-In": "many"}, "the header X-In holds 'many', which is not a number", id="word"),
        pytest.param({"X-In": "-5"}, "X-In holds '-5'", id="negative"),
        pytest.param({"X-In": "9" * 5000}, "X-In holds '9999", id="endless"),
        pytest.param({"X-Cost": "free"}, "the header X-Cost holds 'free', which is not an amount", id="cost-word"),
        pytest.param({"X-Cost": "inf"}, "which is not an amount", id="cost-infinite"),
    ],
)
def test_a_header_that_is_no_count_is_said(headers: dict[str, str], message: str) -> None:
    account = accounting(headers=True, cost_header="X-Cost")
    account.read_headers(headers)
    [problem] = account.problems
    assert message in problem
    assert account.known() == {}


def test_a_part_that_cannot_be_read_makes_the_whole_unknown_and_leaves_the_other_alone() -> None:
    account = accounting("/message/usage", "/usage", cost="/cost")
    account.read_body({"message": {"usage": {"input_tokens": 5, "output_tokens": 1}}, "cost": 0.5})
    account.read_body({"usage": {"output_tokens": "many"}})
    assert account.known() == {"cost_usd": 0.5}
    [problem] = account.problems
    assert problem == "usage is unknown: usagePath '/usage' leads to 'many' as completion_tokens, which is not a number of tokens"
