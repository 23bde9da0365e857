"""Which claims the things that an agent saw hold."""

from __future__ import annotations

from typing import Any

from eval_skills.core.models import SkillResponse, ToolCall
from eval_skills.scorers.claims.evidence import Evidence, evidence_text, seen_in
from eval_skills.scorers.claims.extraction import claims_in
from tests.tables import each_row


def supports(seen: Any, said: str) -> bool:
    claims = claims_in(said)
    assert claims, f"no claim in {said!r}"
    evidence = Evidence(evidence_text([seen]))
    return all(map(evidence.supports, claims))


@each_row(
    ("said", "seen"),
    [
        ("1,000", 1000),
        ("1000", "1e3"),
        ("1e3", "1,000"),
        ("3.14", 3.14159),
        ("3", 3.14159),
        ("2.5", "2.45"),
        ("2.4", "2.45"),
        ("1.2 million", 1_234_567),
        ("5K", "5000"),
        ("5 apples", "5K"),
        ("12.5%", 12.5),
        ("12.5%", 0.125),
        ("12.5%", "12.51 percent"),
        ("0.125", "12.5 %"),
        ("$42.50", {"price": 42.5}),
        ("$42.50", "42.50 USD"),
        ("42.5", "$42.50"),
        ("down by 5", "-5"),
        ("12 300", ["12", "300"]),
        ("300", "120\t95 131 101 108 300 120 131 101 108 300 120 131 101 108"),
        ("131", "Turin,80,131"),
        ("2026", "2026-11-22"),
        ("2026", "22.11.2026"),
    ],
)
def test_numbers_that_occur(said: str, seen: Any) -> None:
    assert supports(seen, said)


@each_row(
    ("said", "seen"),
    [
        ("1,001", 1000),
        ("3.15", 3.14159),
        ("3.1416", 3.14),
        ("1200", 1234),
        ("5%", "$5"),
        ("$5", "€5"),
        ("-5", "5"),
        ("50%", 0.51),
        ("42", "H42"),
        ("142", "42 and 1420"),
        ("5", "5.7"),
        ("1,000", [1, 0]),
        ("1e30", "1e3"),
    ],
)
def test_numbers_that_do_not(said: str, seen: Any) -> None:
    assert not supports(seen, said)


@each_row(
    ("said", "seen", "held"),
    [
        ("22 November 2026", "2026-11-22T10:00:00Z", True),
        ("Nov 22", "2026-11-22", True),
        ("November 2026", "22/11/2026", True),
        ("2026-11-22", "22nd of November 2026", True),
        ("2026-11-22", "November 22", False),
        ("23 November 2026", "2026-11-22", False),
        ("3:05 pm", "2026-11-22T15:05:10Z", True),
        ("3:05", "15:05", True),
        ("3:05 am", "15:05", False),
        ('"Deep  Blue."', "it was DEEP\nBLUE then", True),
        ('"deep ... blue"', "deep in the blue", True),
        ('"deep blue"', "deep blues", False),
        ("'it’s fine'", "it's fine", True),
        ("https://www.X.org/a/", "http://x.org/a", True),
        ("https://x.org", "see x.org/a.", True),
        ("https://x.org/a", "https://x.org", False),
        ("https://x.org", "https://x.org.evil.com", False),
        ("https://x.org/A", "https://x.org/a", False),
        ("bob@x.org", "BOB@X.ORG", True),
        ("bob@x.org", "jim.bob@x.org.uk", False),
        ("ORD-10442", {"id": "ord-10442"}, True),
        ("ORD-10442", "ORD-10443", False),
        ("mid-2020", "2020", True),
        ("by Marie Curie", {"first": "Marie", "last": "CURIE"}, True),
        ("by Emile Zola", "Émile Zola", True),
        ("by Marie Curie", "Pierre Curie", False),
        ("Physicist Curie said", "Curie", True),
    ],
)
def test_other_claims(said: str, seen: Any, held: bool) -> None:
    assert supports(seen, said) is held


def test_p04_keys_and_json_inside_texts_are_seen_decoded() -> None:
    assert supports('{"Marie": [{"quote": "say \\"hello there\\" now"}]}', 'she said "hello there"')
    assert supports({"rows": '{"Turin Lyon": 1}'}, "from Turin Lyon")


def test_what_was_seen_is_input_results_errors_and_the_words_of_others() -> None:
    response = SkillResponse(
        output="-",
        tool_calls=[ToolCall(name="a", arguments={"x": "argument"}, result={"r": "result"}, error="error")],
        messages=[
            {"role": "system", "content": "system"},
            {"role": "user", "content": [{"type": "tool_result", "content": "block"}]},
            {"role": "assistant", "content": "assistant", "tool_calls": []},
            {"type": "ai", "content": "ai"},
            {"role": "tool", "content": "tool"},
            {},
        ],
    )
    words = evidence_text(seen_in({"question": "input"}, response)).split()
    assert {"input", "result", "error", "system", "block", "tool"} <= set(words)
    assert not {"argument", "assistant", "ai"} & set(words)


def test_depth_and_broken_json_are_no_obstacle() -> None:
    deep: Any = "42 owls"
    for _ in range(50_000):
        deep = [deep]
    assert supports(deep, "42")
    assert supports("[" * 50_000 + "42", "42")
    assert supports('{"a": 42', "42")
