"""As many pairs as there can be, and no pair compared twice."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.scorers.trajectory.arguments import ArgumentsRules, rules_of
from eval_skills.scorers.trajectory.calls import Call
from eval_skills.scorers.trajectory.edits import call_edits
from eval_skills.scorers.trajectory.matching import Pairing

ARGUMENTS = st.dictionaries(st.sampled_from("xyz"), st.integers(0, 1), max_size=3)
CALLS = st.lists(st.builds(lambda name, arguments: call(name, arguments), st.sampled_from("ab"), ARGUMENTS), max_size=5)
MODES = st.sampled_from(["exact", "ignore", "subset", "superset"])


def call(name: str, arguments: dict[str, Any]) -> Call:
    return Call(name, arguments, arguments, name)


def matched(outputs: list[Call], references: list[Call], rules: ArgumentsRules) -> int:
    pairing = Pairing(outputs, references, rules)
    pairs = pairing.matched(range(len(outputs)), range(len(references)))
    assert len(set(pairs.values())) == len(pairs)
    assert all(pairing.fits(*pair) for pair in pairs.items())
    return len(pairs)


def most_pairs(outputs: list[Call], references: list[Call], rules: ArgumentsRules) -> int:
    """By trying every assignment."""
    few, many, swapped = (outputs, references, False) if len(outputs) <= len(references) else (references, outputs, True)

    def fits(one: Call, other: Call) -> bool:
        output, reference = (other, one) if swapped else (one, other)
        return output.name == reference.name and rules.holds(output, reference)

    return max(sum(map(fits, few, chosen)) for chosen in permutations(many, len(few)))


@pytest.mark.parametrize("outputs", [[{"x": 1}, {}], [{}, {"x": 1}]], ids=["the-only-fit-is-asked-for-last", "first"])
@pytest.mark.parametrize("references", [[{}, {"x": 1}], [{"x": 1}, {}]], ids=["the-easy-one-first", "last"])
def test_p89_first_fit_does_not_decide(outputs: list[Any], references: list[Any]) -> None:
    called, expected = ([call("a", each) for each in side] for side in (outputs, references))
    assert matched(called, expected, rules_of("superset")) == 2


def test_p89_a_long_chain_of_exchanges_is_found() -> None:
    size = 60  # each output fits its own reference and the next one's, and first fit gives every one to the wrong call
    outputs = [call("a", {"n": number}) for number in range(size)]
    references = [call("a", {"n": number}) for number in range(size)][::-1]
    rules = rules_of("exact", {"a": lambda output, reference: output["n"] in (reference["n"], (reference["n"] - 1) % size)})
    assert matched(outputs, references, rules) == size


@given(CALLS, CALLS, MODES)
def test_p89_no_assignment_has_more_pairs(outputs: list[Call], references: list[Call], mode: str) -> None:
    rules = rules_of(mode)
    assert matched(outputs, references, rules) == most_pairs(outputs, references, rules)


@given(CALLS, CALLS, MODES)
def test_p93_no_edit_is_smaller(outputs: list[Call], references: list[Call], mode: str) -> None:
    rules = rules_of(mode)
    names, expected = Counter(each.name for each in outputs), Counter(each.name for each in references)
    changeable = (names & expected).total() - most_pairs(outputs, references, rules)
    edits = call_edits(Pairing(outputs, references, rules), range(len(outputs)), range(len(references)))
    assert len(edits) == changeable + (names - expected).total() + (expected - names).total()


def test_p90_a_pair_is_compared_once_and_the_output_comes_first() -> None:
    asked: Counter[tuple[int, int]] = Counter()

    def never(output: dict[str, Any], reference: dict[str, Any]) -> bool:
        asked[output["output"], reference["reference"]] += 1
        return False

    outputs = [call("a", {"output": number}) for number in range(3)]
    references = [call("a", {"reference": number}) for number in range(3)]
    pairing = Pairing(outputs, references, rules_of("exact", {"a": never}))
    call_edits(pairing, range(3), range(3))
    pairing.matched(range(3), range(3))
    assert set(asked.values()) == {1}
    assert len(asked) == 9


@pytest.mark.slow
def test_many_calls_of_one_tool_are_matched() -> None:
    outputs = [call("a", {"n": number, "more": True}) for number in range(400)]
    references = [call("a", {"n": number}) for number in reversed(range(400))]
    assert matched(outputs, references, rules_of("superset")) == 400


def test_calls_written_alike_are_compared_once() -> None:
    asked: list[tuple[int, int]] = []

    def same_parity(output: dict[str, Any], reference: dict[str, Any]) -> bool:
        asked.append((output["n"], reference["n"]))
        return bool(output["n"] % 2 == reference["n"])

    outputs, references = [call("a", {"n": n % 4}) for n in range(300)], [call("a", {"n": n % 2}) for n in range(300)][::-1]
    assert matched(outputs, references, rules_of("exact", {"a": same_parity})) == 300
    assert max(Counter(asked).values()) == 1
    assert len(asked) <= 8


def test_many_similar_calls_are_matched_once_whatever_asks() -> None:
    asked: list[tuple[int, int]] = []

    def not_above(output: dict[str, Any], reference: dict[str, Any]) -> bool:
        asked.append((output["n"], reference["n"]))
        return bool(output["n"] <= reference["n"])

    size = 80  # the best is size - 1: the greatest output has no partner
    outputs, references = [call("a", {"n": n + 1}) for n in range(size)], [call("a", {"n": n}) for n in range(size)][::-1]
    pairing = Pairing(outputs, references, rules_of("exact", {"a": not_above}))
    everywhere = range(size)
    assert len(pairing.matched(everywhere, everywhere)) == size - 1
    before = len(asked)
    assert before <= size * size
    edits = call_edits(pairing, everywhere, everywhere)
    assert (len(edits), len(asked)) == (1, before)
