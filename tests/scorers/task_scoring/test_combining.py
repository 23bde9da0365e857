"""What a set of evaluators says, held against everything that what is unknown could still say."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.core.models import AtLeast
from eval_skills.scorers.task_scoring.combining import Combination, Outcome, Part, judged_from
from tests.tables import each_row

GATED = Outcome.scored(0.4, passed=False, gated=True)


@dataclass(frozen=True)
class Leaf:
    """`passed` None: nothing is known of it."""

    passed: bool | None = None
    value: float = 0.0


@dataclass(frozen=True)
class Node:
    """One entry: a leaf or a set, and how it counts."""

    inner: Leaf | Tree
    weight: float = 1.0
    required: bool = False
    negated: bool = False


@dataclass(frozen=True)
class Tree:
    rule: Any
    nodes: tuple[Node, ...]
    threshold: float | None = None


def outcome(tree: Tree) -> Outcome:
    """What the program says."""
    parts = [Part(node.weight, node.required, outcome_of(node)) for node in tree.nodes]
    return Combination(tree.rule, tree.threshold).outcome(parts)


def outcome_of(node: Node) -> Outcome:
    inner = node.inner
    if isinstance(inner, Tree):
        found = outcome(inner)
    else:
        found = Outcome() if inner.passed is None else Outcome.scored(inner.value, passed=inner.passed)
    return found.inverted() if node.negated else found


def known(tree: Tree) -> tuple[bool, float]:
    """Verdict and value of a tree in which everything is known, by the words of the documentation alone."""
    counted = [(node, *known_of(node)) for node in tree.nodes if node.weight]
    verdicts = [passed for _, passed, _ in counted]
    values = [value for _, value in sorted(((not fails_for_any_value(node), value) for node, _, value in counted), reverse=True)]
    mean = sum(node.weight * value for node, _, value in counted) / sum(node.weight for node, *_ in counted)
    if tree.rule == "any":
        passed, value = any(verdicts), values[0]
    elif isinstance(tree.rule, AtLeast):
        n = tree.rule.at_least
        passed, value = verdicts.count(True) >= n, sum(values[:n]) / n
    else:
        passed, value = all(verdicts) if tree.threshold is None else mean >= tree.threshold - 1e-9, mean
    return passed and all(known_of(node)[0] for node in tree.nodes if node.required), value


def known_of(node: Node) -> tuple[bool, float]:
    passed, value = known(node.inner) if isinstance(node.inner, Tree) else (bool(node.inner.passed), node.inner.value)
    return (not passed, 1 - value) if node.negated else (passed, value)


def fails_for_any_value(node: Node) -> bool:
    """Whether a set in which everything is known lacks what it requires, or has too few entries that do not."""
    tree = node.inner
    if not isinstance(tree, Tree) or node.negated:
        return False
    holding = [not fails_for_any_value(each) for each in tree.nodes if each.weight]
    needed = 1 if tree.rule == "any" else tree.rule.at_least if isinstance(tree.rule, AtLeast) else len(holding)
    lacking = any(each.required and not known_of(each)[0] for each in tree.nodes)
    return lacking or (tree.threshold is None and sum(holding) < needed)


def completions(tree: Tree) -> Iterator[Tree]:
    """The tree with every verdict and every extreme value that its unknown leaves could have."""
    for nodes in itertools.product(*(list(completions_of(node)) for node in tree.nodes)):
        yield replace(tree, nodes=nodes)


def completions_of(node: Node) -> Iterator[Node]:
    if isinstance(node.inner, Tree):
        yield from (replace(node, inner=inner) for inner in completions(node.inner))
    elif node.inner.passed is None:
        yield from (replace(node, inner=Leaf(passed, value)) for passed in (True, False) for value in (0.0, 1.0))
    else:
        yield node


def verdict_by_force(tree: Tree) -> bool | None:
    found = {known(each)[0] for each in completions(tree)}
    return found.pop() if len(found) == 1 else None


LEAVES = (Leaf(True, 1.0), Leaf(False, 0.0), Leaf(True, 0.5), Leaf(False, 0.75), Leaf())
RULES: tuple[tuple[Any, float | None], ...] = (
    ("all", None), ("any", None), (None, None), (AtLeast(at_least=1), None), (AtLeast(at_least=2), None),
    (AtLeast(at_least=3), None), ("weighted", None), ("weighted", 0.5), ("weighted", 0.625), ("weighted", 1.0),
)  # fmt: skip


@pytest.mark.parametrize(("rule", "threshold"), RULES, ids=lambda each: str(each))
@pytest.mark.parametrize(
    "flags",
    [
        pytest.param(({}, {}, {}), id="plain"),
        pytest.param(({"weight": 3.0}, {}, {"weight": 0.5}), id="weights"),
        pytest.param(({"required": True}, {}, {"negated": True}), id="required-and-not"),
        pytest.param(({"required": True, "negated": True, "weight": 2.0}, {"required": True}, {}), id="required-not"),
    ],
)
def test_the_verdict_is_what_every_answer_to_the_unknown_gives(rule: Any, threshold: float | None, flags: Any) -> None:
    for leaves in itertools.product(LEAVES, repeat=3):
        tree = Tree(rule, tuple(Node(leaf, **more) for leaf, more in zip(leaves, flags, strict=True)), threshold)
        found = outcome(tree)
        assert found.passed == verdict_by_force(tree), tree
        values = [known(each)[1] for each in completions(tree)]
        assert [found.low, found.high] == pytest.approx([min(values), max(values)]), tree
        assert (found.value is None) == all(leaf.passed is None for leaf in leaves), tree


@pytest.mark.parametrize(("rule", "threshold"), [each for each in RULES if each[0] != AtLeast(at_least=3)], ids=str)
@pytest.mark.parametrize("required", [False, True])
def test_one_that_weighs_nothing_decides_only_where_it_is_required(rule: Any, threshold: float | None, required: bool) -> None:
    for leaves in itertools.product(LEAVES, repeat=2):
        shown = tuple(Node(leaf) for leaf in leaves)
        for third in LEAVES:
            with_it = Tree(rule, (*shown, Node(third, weight=0.0, required=required)), threshold)
            assert outcome(with_it).passed == verdict_by_force(with_it), with_it
            if not required:
                assert outcome(with_it) == outcome(Tree(rule, shown, threshold))


@each_row(
    ("rule", "threshold", "leaves", "value"),
    [
        pytest.param("all", None, (Leaf(True, 1.0), Leaf(False, 0.25)), 0.625, id="all-is-the-mean"),
        pytest.param("any", None, (Leaf(True, 0.9), Leaf(False, 0.25)), 0.9, id="any-is-the-best"),
        pytest.param(AtLeast(at_least=2), None, (Leaf(True, 1), Leaf(False, 0), Leaf(True, 0.5)), 0.75, id="the-two-best"),
        pytest.param("all", None, (Leaf(False, 0.5), Leaf()), 0.5, id="of-what-was-scored"),
        pytest.param(AtLeast(at_least=2), None, (Leaf(True, 0.5), Leaf()), 0.5, id="fewer-than-must-pass"),
        pytest.param("all", None, (Leaf(), Leaf()), None, id="never-0-where-nothing-was-scored"),
    ],
)
def test_value(rule: Any, threshold: float | None, leaves: Sequence[Leaf], value: float | None) -> None:
    assert outcome(Tree(rule, tuple(map(Node, leaves)), threshold)).value == value


def test_what_is_unknown_stays_so_when_it_is_inverted() -> None:
    assert outcome_of(Node(Leaf(), negated=True)).passed is None
    assert outcome_of(Node(Leaf(True, 0.75), negated=True)) == Outcome.scored(0.25, passed=False)


@each_row(
    ("value", "threshold", "gated", "passed"),
    [
        pytest.param(0.8, 0.8, False, True, id="equality-passes"),
        pytest.param(0.1 + 0.2, 0.3, False, True, id="above-by-float"),
        pytest.param(0.3, 0.1 + 0.2, False, True, id="below-by-float"),
        pytest.param(0.79, 0.8, False, False, id="below"),
        pytest.param(1.0, 0.8, True, False, id="a-gate-holds"),
        pytest.param(0.8, None, False, False, id="its-own-verdict"),
    ],
)
def test_a_threshold_takes_the_place_of_the_verdict(value: float, threshold: float | None, gated: bool, passed: bool) -> None:
    own = Outcome.scored(value, passed=False, gated=gated)
    assert judged_from(own, threshold).passed is passed


def test_gates_count_by_the_rule() -> None:
    gated, fine = Outcome.scored(0.9, passed=False, gated=True), Outcome.scored(0.9, passed=True)

    def found(rule: Any, *outcomes: Outcome, threshold: float | None = None, required: bool = False) -> bool | None:
        return Combination(rule, threshold).outcome([Part(1.0, required, each) for each in outcomes]).gated

    assert found("all", gated, fine) is True
    assert found("any", gated, fine) is False
    assert found("any", gated, gated) is True
    assert found("any", gated, Outcome()) is None
    assert found("weighted", gated, threshold=0.5) is False
    assert found("weighted", gated, threshold=0.5, required=True) is True
    assert found("all", Outcome.scored(0.0, passed=False)) is False
    assert found("all", gated.inverted()) is False


values = st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.7, 1.0])
leaf_states = st.one_of(st.builds(Leaf, st.booleans(), values), st.just(Leaf()))
rules = st.one_of(
    st.tuples(st.sampled_from(["all", "any", "weighted", None]), st.none()),
    st.tuples(st.just("weighted"), st.sampled_from([0.1, 0.5, 0.7, 1.0])),
    st.tuples(st.integers(1, 3).map(lambda n: AtLeast(at_least=n)), st.none()),
)


def _tree(rule: tuple[Any, float | None], nodes: list[Node]) -> Tree:
    if not any(node.weight for node in nodes):
        nodes[0] = replace(nodes[0], weight=1.0)
    counted = sum(bool(node.weight) for node in nodes)
    wanted = AtLeast(at_least=min(rule[0].at_least, counted)) if isinstance(rule[0], AtLeast) else rule[0]
    return Tree(wanted, tuple(nodes), rule[1])


def _nodes(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Node]:
    weights = st.sampled_from([1.0, 1.0, 2.0, 0.3, 0.0])
    return st.builds(Node, inner, weights, st.sampled_from([False, False, True]), st.booleans())


trees = st.recursive(
    st.builds(_tree, rules, st.lists(_nodes(leaf_states), min_size=1, max_size=3)),
    lambda inner: st.builds(_tree, rules, st.lists(_nodes(st.one_of(leaf_states, inner)), min_size=1, max_size=3)),
    max_leaves=3,
)


def unknown_leaves(tree: Tree) -> int:
    return sum(unknown_leaves(node.inner) if isinstance(node.inner, Tree) else node.inner.passed is None for node in tree.nodes)


@pytest.mark.slow
@given(trees.filter(lambda tree: unknown_leaves(tree) <= 3))
def test_sets_in_each_other_agree_with_brute_force(tree: Tree) -> None:
    found = outcome(tree)
    assert found.passed == verdict_by_force(tree)
    if not unknown_leaves(tree):
        assert found.value == pytest.approx(known(tree)[1])


@pytest.mark.slow
@given(trees, st.randoms(use_true_random=False))
def test_the_order_of_entries_changes_nothing(tree: Tree, chance: Any) -> None:
    def shuffled(each: Tree) -> Tree:
        nodes = [replace(node, inner=shuffled(node.inner)) if isinstance(node.inner, Tree) else node for node in each.nodes]
        chance.shuffle(nodes)
        return replace(each, nodes=tuple(nodes))

    assert outcome(shuffled(tree)) == outcome(tree)


@each_row(
    ("outcomes", "bounds"),
    [
        pytest.param((GATED, Outcome.scored(0.2, passed=False)), (0.2, 0.2), id="another-is-picked"),
        pytest.param((GATED, Outcome.scored(0, passed=False, gated=True)), (0.4, 0.4), id="all-of-them"),
        pytest.param((GATED, Outcome()), (0.0, 1.0), id="another-is-unknown"),
        pytest.param((replace(GATED, gated=None), Outcome.scored(0.2, passed=False)), (0.2, 0.4), id="its-gate-is-unknown"),
    ],
)
def test_a_value_that_a_gate_failed_is_picked_last(outcomes: Sequence[Outcome], bounds: tuple[float, float]) -> None:
    found = Combination(rule="any").outcome([Part(1.0, False, each) for each in outcomes])
    assert (found.low, found.high) == bounds


@pytest.mark.parametrize("rule", ["any", AtLeast(at_least=2), AtLeast(at_least=3)], ids=str)
def test_bounds_hold_whichever_gates_fail(rule: Any) -> None:
    def found(outcomes: Sequence[Outcome]) -> Outcome:
        return Combination(rule).outcome([Part(1.0, False, each) for each in outcomes])

    ends = ((0.0, 0.0), (0.3, 0.6), (0.5, 0.5), (0.2, 0.9))
    entries = [Outcome(value=low, low=low, high=high, gated=gated) for low, high in ends for gated in (None, True, False)]
    for outcomes in itertools.product(entries, repeat=3):
        gates = itertools.product(*((True, False) if each.gated is None else (each.gated,) for each in outcomes))
        known = [found([replace(each, gated=gate) for each, gate in zip(outcomes, held, strict=True)]) for held in gates]
        assert found(outcomes).low == min(each.low for each in known), outcomes
        assert found(outcomes).high == max(each.high for each in known), outcomes


@given(trees)
def test_the_score_of_a_mean_agrees_with_its_verdict(tree: Tree) -> None:
    found = outcome(tree)
    if found.value is None:  # nothing that weighs was scored
        return
    assert found.low - 1e-9 <= found.value <= found.high + 1e-9
    if tree.threshold is not None and found.passed is not None and not any(node.required for node in tree.nodes):
        assert found.passed == (found.value >= tree.threshold * (1 - 1e-9))
