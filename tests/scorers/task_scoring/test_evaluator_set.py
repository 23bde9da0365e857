"""Several evaluators of a task: what each is asked, what they say together, and how the item shows it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from eval_skills.core.errors import InputError, JudgeError
from eval_skills.core.models import EvalTask, Reason, SkillResponse, ToolCall, TurnResponse, Verdict
from eval_skills.scorers import Score, ScoringSettings, TaskScoring, scorer
from tests.scripted_model import Says, ScriptedModel, failure, verdict
from tests.tables import each_row

Settings = Callable[..., ScoringSettings]
asked: list[str] = []
"""The scripted scorers that were asked, in order."""


@pytest.fixture(autouse=True)
def scripted(own_scorers: None) -> Iterator[None]:
    """The scorers ``free`` and ``paid``, whose verdict is written in the task; the second one counts as asking a model."""

    @scorer("free")
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Free:
        says: float | str | None = None
        passed: bool | None = None
        gate: bool = False
        mark: str = ""
        weight: str = ""

        def score(self, response: SkillResponse) -> Score | None:
            asked.append(self.mark)
            if self.says == "judge fails":
                raise JudgeError("it is tired", code="JUDGE_TIMEOUT")
            if isinstance(self.says, str):
                raise ValueError(self.says)
            if self.says is None:
                return None
            why = Reason(code="WHY", message=f"{self.mark or 'it'} got {self.says:g}", where="output")
            gates = (Reason(code="GATE", message="a floor", where="output"),) if self.gate else ()
            return Score(self.says, passed=False if self.gate else self.passed, reasons=(why,), gates=gates)

    @scorer("paid")
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Paid(Free):
        @property
        def models(self) -> tuple[str | None, ...]:
            return (None,)

    asked.clear()
    yield
    asked.clear()


def free(says: Any = 1, mark: Any = "", **more: Any) -> dict[str, Any]:
    return {"type": "free", "says": float(says) if isinstance(says, int) else says, "mark": mark, **more}


def paid(says: Any = 1, mark: Any = "", **more: Any) -> dict[str, Any]:
    return {**free(says, mark, **more), "type": "paid"}


def a_set(*evaluators: Any, **more: Any) -> dict[str, Any]:
    return {"evaluators": list(evaluators), **more}


def scoring(*evaluators: Any, settings: Any = None, **fields: Any) -> TaskScoring:
    return TaskScoring(EvalTask.model_validate({"id": "t", "evaluators": list(evaluators), **fields}), settings)


def judged(*evaluators: Any, output: Any = "42", settings: Any = None, **fields: Any) -> Verdict:
    return asyncio.run(scoring(*evaluators, settings=settings, **fields).verdict(SkillResponse(output=output)))


def talked(*evaluators: Any, points: float, **fields: Any) -> Verdict:
    """The verdict on a conversation of one turn, whose mean is limited."""
    turns = [{"input": "hello", "evaluators": list(evaluators), **fields}]
    task = EvalTask.model_validate({"id": "t", "turns": turns, "thresholds": {"minScore": points}})
    return asyncio.run(TaskScoring(task).verdict(SkillResponse.of_turns([TurnResponse(output="42")])))


def failing(found: Verdict) -> list[str]:
    return [each.message for each in found.reasons if not each.informational]


def remarks(found: Verdict) -> list[tuple[str, str]]:
    return [(each.code, each.message) for each in found.reasons if each.informational]


# --- what is shown ---


def test_one_that_fails_is_one_reason_and_a_name_is_a_dimension() -> None:
    found = judged(free(1, name="facts"), {"type": "contains", "keywords": ["a", "42", "b"], "name": "words"})
    assert (found.status, found.scorer) == ("fail", "set")
    assert found.score == pytest.approx((1 + 1 / 3) / 2)
    assert found.dimensions == {"facts": 1.0, "words": pytest.approx(1 / 3), "output_quality": found.score}
    assert failing(found) == ['words: expected "a" in the answer, got "42"; expected "b" in the answer, got "42"']


def test_a_set_that_passes_has_remarks_alone() -> None:
    found = judged(free(0, "a"), free(1, "b"), combine="any")
    assert found.status == "pass"
    assert found.score == 1
    assert remarks(found) == [("WHY", "free (evaluators[0]): a got 0"), ("WHY", "free (evaluators[1]): b got 1")]


@each_row(
    ("evaluators", "fields", "reasons"),
    [
        pytest.param([free(0.5, threshold=0.8), "exact"], {"expectedOutput": {"value": 42}},
                     ["free: expected a score of at least 0.8, got 0.5: it got 0.5"], id="threshold"),
        pytest.param([free(1, **{"not": True})], {}, ["free: expected that it does not pass, and it does: it got 1"], id="not"),
        pytest.param([a_set(free(0, "a"), free(0, "b", name="y"), combine="any", name="x"), "exact"],
                     {"expectedOutput": {"value": 42}}, ["x: free (evaluators[0].evaluators[0]): a got 0; y: b got 0"], id="set"),
        pytest.param([a_set(free(1), combine="all", **{"not": True})], {},
                     ["all of free: expected that it does not pass, and it does"], id="not-of-a-set"),
        pytest.param([free(0.5, passed=True), free(0.6, passed=True)], {"combine": "weighted", "threshold": 0.7},
                     ["expected a weighted mean of at least 0.7, got 0.55"], id="a-mean-that-no-entry-explains"),
        pytest.param([free(0, "a"), free(0, "b"), free(1, "c")], {"combine": {"atLeast": 2}},
                     ["free (evaluators[0]): a got 0", "free (evaluators[1]): b got 0"], id="at-least"),
        pytest.param([free(1, "a"), free(0, "b", required=True)], {"combine": "any"}, ["free (evaluators[1]): b got 0"],
                     id="required-under-any"),
    ],
)  # fmt: skip
def test_why_a_set_fails(evaluators: list[Any], fields: dict[str, Any], reasons: list[str]) -> None:
    found = judged(*evaluators, **fields)
    assert found.status == "fail"
    assert failing(found) == reasons


def test_dimensions_of_scorers_are_kept_apart(settings: Settings, model: ScriptedModel) -> None:
    model.otherwise = Says({"tone_verdict": {"quotes": [], "reasoning": "so", "level": "yes"}})
    rubric = {"dimensions": {"tone": {"weight": 1, "description": "Kind?", "levels": {"yes": 1, "no": 0}}}}
    one = {"type": "rubric", "rubric": rubric}
    found = judged({**one, "name": "first"}, {**one, "criteria": "x"}, {**one, "criteria": "y"}, settings=settings())
    names = {"first", "first.rubric.tone", "rubric-2.rubric.tone", "rubric-3.rubric.tone", "output_quality"}
    assert set(found.dimensions) == names


# --- what is unknown ---


@each_row(
    ("evaluators", "combine", "status", "score"),
    [
        pytest.param([free(0), free(None)], "all", "fail", 0, id="all-and-one-failed"),
        pytest.param([free(1), free(None)], "all", "error", None, id="all-is-open"),
        pytest.param([free(1), free(None)], "any", "pass", 1, id="any-and-one-passed"),
        pytest.param([free(0), free("broken")], "any", "error", None, id="any-is-open"),
        pytest.param([free(1), free(None, **{"not": True})], "all", "error", None, id="not-of-unknown"),
        pytest.param([free(1), free(0), free("broken")], {"atLeast": 2}, "error", None, id="at-least-is-open"),
        pytest.param([free(0), free(0), free("broken")], {"atLeast": 2}, "fail", 0, id="too-few-can-pass"),
        pytest.param([free(0.5), free(None, weight=0)], "weighted", "fail", 0.5, id="what-weighs-nothing"),
        pytest.param([free(1), free(None, weight=0, required=True)], "all", "error", None, id="but-is-required"),
        pytest.param([free(None), free(0, weight=0, required=True)], "all", "fail", 0, id="required-alone-was-scored"),
        pytest.param([free(None)], "all", "error", None, id="nothing-was-scored"),
    ],
)
def test_an_unknown_one_never_passes_in_silence(evaluators: list[Any], combine: Any, status: str, score: float | None) -> None:
    found = judged(*evaluators, combine=combine)
    assert (found.status, found.score, found.passed) == (status, score, status == "pass")
    if status == "error":
        assert found.error_kind == "scorer"
        assert "output_quality" not in found.dimensions


@pytest.mark.parametrize(
    ("scores", "status"),
    [
        pytest.param([0.9, None], "error", id="between-the-bounds"),
        pytest.param([1.0, 1.0, None], "pass", id="the-lower-bound-is-enough"),
        pytest.param([0.0, 0.5, None], "fail", id="the-upper-bound-is-too-low"),
    ],
)
def test_a_mean_is_decided_by_its_bounds(scores: list[float | None], status: str) -> None:
    found = judged(*map(free, scores), combine="weighted", threshold=0.6)
    assert found.status == status
    assert found.score == (None if status == "error" else sum(filter(None, scores)) / 2)


GATE = {"weight": 0, "required": True}
OPEN, HOLDS, FAILS = free(None, **GATE), paid(1, **GATE), paid(0, **GATE)
MEAN = {"combine": "weighted", "threshold": 0.6}


@each_row(
    ("evaluators", "fields", "status", "score"),
    [
        pytest.param([a_set(a_set(OPEN, free(0.9)), combine="any")], MEAN, "pass", 0.9, id="nothing-else-to-pick"),
        pytest.param([a_set(a_set(OPEN, free(0.9)), free(0.7), combine="any")], MEAN, "pass", 0.9, id="either-is-enough"),
        pytest.param([a_set(a_set(OPEN, free(0.9)), free(0.2), combine="any")], MEAN, "error", None, id="which-is-open"),
        pytest.param([a_set(a_set(HOLDS, free(0.9)), free(0.2), combine="any")], MEAN, "pass", 0.9, id="asked-and-it-holds"),
        pytest.param([a_set(a_set(FAILS, free(0.9)), free(0.2), combine="any")], MEAN, "fail", 0.2, id="asked-and-it-fails"),
        pytest.param([a_set(OPEN, free(0.9)), free(0.2)], {"combine": "any", "points": 60}, "error", None, id="points-open"),
        pytest.param([a_set(HOLDS, free(0.9)), free(0.2)], {"combine": "any", "points": 60}, "pass", 0.9, id="points-hold"),
        pytest.param([a_set(FAILS, free(0.9)), free(0.2)], {"combine": "any", "points": 60}, "fail", 0.2, id="points-fail"),
        pytest.param([a_set(OPEN, free(0.9)), free(0.9)], {"combine": "all", "points": 60}, "error", None, id="points-of-all"),
    ],
)
def test_what_must_pass_in_a_set_decides_whether_its_value_is_picked(
    evaluators: list[Any], fields: dict[str, Any], status: str, score: float | None
) -> None:
    points = fields.get("points")
    limit = {} if points is None else {"thresholds": {"minScore": points}}
    found = judged(*evaluators, **{key: value for key, value in fields.items() if key != "points"}, **limit)
    assert (found.status, found.score) == (status, score)
    if status == "error":
        assert found.reasons[0].message.startswith("the verdict of the evaluators is open: ")
        assert "evaluators[0].evaluators[0]" in found.reasons[0].message


def test_a_judge_that_failed_leaves_the_item_unjudged() -> None:
    found = judged(free(1), paid("broken"), paid("judge fails", name="tone"))
    assert (found.status, found.error_kind) == ("error", "judge")
    assert found.reasons[0].code == "JUDGE_TIMEOUT"
    assert "it is tired" in found.reasons[0].message
    assert "evaluators[2]" in found.reasons[0].message


def test_a_judge_that_failed_is_a_remark_where_the_verdict_is_known_without_it() -> None:
    found = judged(paid("judge fails", name="a"), paid(1, name="b"), combine="any")
    assert found.status == "pass"
    assert ("JUDGE_TIMEOUT", "a: not known: it is tired") in remarks(found)


# --- who is asked ---


def test_models_are_asked_last_and_only_while_the_verdict_is_open() -> None:
    found = judged(paid(1, "p1"), free(1, "f1"), paid(0, "p2", name="tone"), free(1, "f2"), paid(1, "p3"))
    assert asked == ["f1", "f2", "p1", "p2"]
    assert found.score == 0.75
    assert ("NOT_ASKED", "not asked: paid (evaluators[4]); the verdict was known") in remarks(found)


def test_models_that_nothing_depends_on_are_not_asked_and_have_no_dimension() -> None:
    found = judged(free(0, "f"), paid(1, "p", name="tone"))
    assert asked == ["f"]
    assert found.dimensions == {"output_quality": 0.0}
    assert remarks(found) == [("NOT_JUDGED", "not asked: tone; the verdict was known")]


def test_as_written_asks_all_of_them_in_order() -> None:
    found = judged(free(0, "f1"), paid(1, "p1"), free(1, "f2"), paid(0, "p2", weight=0), costOrder="as-written")
    assert asked == ["f1", "p1", "f2", "p2"]
    assert found.score == pytest.approx(2 / 3)


def test_a_set_inside_is_asked_only_for_what_matters_outside() -> None:
    inner = a_set(free(1, "f"), paid(0, "p"), combine="any")
    judged(inner, paid(1, "q"))
    assert asked == ["f", "q"]
    asked.clear()
    judged(inner, paid(1, "q"), combine="weighted", threshold=0.9)
    assert asked == ["f", "q"], "the best value is known already"
    asked.clear()
    judged(a_set(free(0.5, "f"), paid(0, "p"), combine="any"), free(0.5, "g"), combine="weighted", threshold=0.7)
    assert asked == ["f", "g", "p"], "its value decides, not its verdict"


def test_a_mean_stops_at_its_bounds() -> None:
    judged(free(1, "f", weight=3), paid(0, "p"), combine="weighted", threshold=0.7)
    assert asked == ["f"]


def test_a_min_score_needs_every_value() -> None:
    found = judged(free(0, "f"), paid(1, "p"), thresholds={"minScore": 50})
    assert (asked, found.status, found.score) == (["f", "p"], "pass", 0.5)


def test_a_min_score_of_a_conversation_needs_every_value_of_a_turn_that_passes() -> None:
    found = talked(free(0.5, "f", passed=True), paid(0.9, "p"), combine="any", points=80)
    assert (asked, found.status, found.score) == (["f", "p"], "pass", 0.9)
    asked.clear()
    assert (talked(free(0, "f"), paid(1, "p"), points=80).status, asked) == ("fail", ["f"])
    assert talked(free(0.5, passed=True), free(None), combine="any", points=80).status == "error"


def test_a_min_score_whose_value_is_open_is_an_error() -> None:
    found = judged(free(0), free(None), thresholds={"minScore": 40})
    assert (found.status, found.score) == ("error", None)


def test_a_required_one_fails_the_item_for_any_min_score() -> None:
    found = judged(free(1, "f"), free(0, "r", required=True), paid(1, "p"), thresholds={"minScore": 10})
    assert (asked, found.status, found.score) == (["f", "r"], "fail", 0.5)
    assert failing(found) == ["free (evaluators[1]): r got 0"]


def test_a_floor_holds_for_any_min_score_where_the_rule_needs_it() -> None:
    floored = free(0.9, gate=True)
    assert judged(floored, free(1), thresholds={"minScore": 10}).status == "fail"
    assert judged(floored, free(1), combine="any", thresholds={"minScore": 10}).status == "pass"
    assert judged(floored, free(0), combine="any", thresholds={"minScore": 10}).status == "fail"
    assert judged(floored, free(0.5), free(0), combine={"atLeast": 2}, thresholds={"minScore": 30}).status == "fail"
    assert judged(floored, free(1), combine="any").status == "pass"


def test_no_model_is_asked_about_an_answer_that_failed_a_gate() -> None:
    gate = {"expected": {"output": {"contains": ["owl"]}}}
    found = judged(paid(1, "p", name="tone"), free(0.5, "f", name="facts"), costOrder="as-written", **gate)
    assert (asked, found.status, found.score) == (["f"], "fail", 0.5)
    assert found.dimensions == {"facts": 0.5, "output_quality": 0.5}
    assert ("NOT_JUDGED", "not asked: tone; a gate failed first") in remarks(found)
    asked.clear()
    alone = judged(paid(1, "p"), **gate)
    assert (asked, alone.status) == ([], "fail")
    assert remarks(alone)[0][0] == "NOT_JUDGED"


def test_a_forbidden_tool_comes_before_all() -> None:
    task = scoring(free(1, "f"), expected={"forbiddenTools": ["rm"]})
    found = asyncio.run(task.verdict(SkillResponse(output="x", tool_calls=[ToolCall(name="rm")])))
    assert (asked, found.status, found.score) == ([], "fail", 0)


def test_what_stands_beside_them_goes_on_working() -> None:
    fields = {"expected": {"tools": ["a"]}, "weights": {"toolAccuracy": 1, "outputQuality": 3}, "thresholds": {"minScore": 70}}
    task = scoring(free(1), free(0.5), **fields)
    found = asyncio.run(task.verdict(SkillResponse(output="x", tool_calls=[ToolCall(name="a")])))
    assert found.score == pytest.approx((1 + 3 * 0.75) / 4)
    assert found.status == "pass"


rules = st.sampled_from(
    [{}, {"combine": "any"}, {"combine": {"atLeast": 1}}, {"combine": "weighted"}, {"combine": "weighted", "threshold": 0.6}]
)


def entries(unknown: bool) -> st.SearchStrategy[list[Any]]:
    says = st.sampled_from([0.0, 0.5, 1.0, *((None, "broken") if unknown else ())])
    own = st.fixed_dictionaries({"weight": st.sampled_from([1, 2]), "required": st.booleans(), "not": st.booleans()})

    def made(kind: Any, said: Any, passed: Any, more: dict[str, Any]) -> dict[str, Any]:
        written: dict[str, Any] = kind(said, **more)
        return written | ({} if passed is None else {"passed": passed})

    leaves = st.builds(made, st.sampled_from([free, paid]), says, st.sampled_from([None, True, False]), own)
    sets = st.builds(
        lambda inner, rule, more: a_set(*inner, **rule, **more), st.lists(leaves, min_size=1, max_size=3), rules, own
    )
    return st.lists(st.one_of(leaves, leaves, sets), min_size=1, max_size=4)


@pytest.mark.slow
@given(entries(unknown=False), rules)
@hypothesis_settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_free_first_gives_the_verdict_of_as_written(evaluators: list[Any], rule: dict[str, Any]) -> None:
    frugal, full = (judged(*evaluators, **rule, costOrder=order) for order in ("free-first", "as-written"))
    assert (frugal.status, frugal.passed) == (full.status, full.passed)


@pytest.mark.slow
@given(entries(unknown=True), rules)
@hypothesis_settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_free_first_knows_what_as_written_knows(evaluators: list[Any], rule: dict[str, Any]) -> None:
    frugal, full = (judged(*evaluators, **rule, costOrder=order) for order in ("free-first", "as-written"))
    assert frugal.status == full.status
    assert (frugal.score is None) == (frugal.status == "error")


@pytest.mark.slow
@given(entries(unknown=False), rules, st.sampled_from([30, 60, 90]))
@hypothesis_settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_free_first_gives_the_same_under_a_min_score(evaluators: list[Any], rule: dict[str, Any], least: int) -> None:
    given_ = {**rule, "thresholds": {"minScore": least}}
    frugal, full = (judged(*evaluators, **given_, costOrder=order) for order in ("free-first", "as-written"))
    assert frugal.status == full.status
    frugal, full = (talked(*evaluators, **rule, points=least, costOrder=order) for order in ("free-first", "as-written"))
    assert frugal.status == full.status


# --- models ---


def test_what_may_be_asked_is_counted_and_named(settings: Settings) -> None:
    one, panel = (
        {"type": "llm_judge", "criteria": "a"},
        {"type": "llm_judge", "criteria": "b", "models": [None, "x/y"], "votes": 2},
    )
    task = scoring("exact", one, a_set(panel), expectedOutput={"value": 1}, settings=settings())
    assert task.questions == {None: 3, "x/y": 2}
    assert task.panels == ((None,), (None, "x/y"))
    assert task.models == (None, "x/y")
    assert task.scorers == ("exact_match", "llm_judge")
    assert task.judge is not None
    assert "x/y" in task.judge.model


def test_the_only_judge_of_a_set_is_known_as_it_is_alone(settings: Settings) -> None:
    judge = {"type": "llm_judge", "criteria": "a"}
    alone = TaskScoring(EvalTask.model_validate({"id": "t", "evaluator": judge}), settings())
    assert scoring(judge, free(1), settings=settings()).judge == alone.judge
    assert scoring(free(1), settings=settings()).judge is None


def test_a_real_judge_is_asked_once_the_free_ones_left_it_open(settings: Settings, model: ScriptedModel) -> None:
    judge = {"type": "llm_judge", "criteria": "kind", "threshold": 0.8, "name": "kind"}
    model.otherwise = verdict(0.75, "rather kind")
    words = {"type": "contains", "keywords": ["42"]}
    found = judged(judge, words, settings=settings(no_judge_cache=True))
    assert (found.status, found.judge_requests, found.dimensions["kind"]) == ("fail", 1, 0.75)
    assert failing(found) == ["kind: openai/scripted gave 0.75, expected a score of at least 0.8: rather kind"]
    found = judged(judge, {**words, "not": True}, settings=settings(no_judge_cache=True))
    assert (found.status, found.judge_requests) == ("fail", None)
    assert len(model.asked) == 1


def test_a_refused_judge_is_an_error_of_kind_judge(settings: Settings, model: ScriptedModel) -> None:
    model.otherwise = failure(400, "no such thing")
    found = judged(free(1), {"type": "llm_judge", "criteria": "kind"}, settings=settings(no_judge_cache=True))
    assert (found.status, found.error_kind, found.score) == ("error", "judge", None)


# --- what is written ---


@pytest.mark.slow
def test_a_custom_scorer_of_a_benchmark_is_one_of_them(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def score(output, expected, task):\n    return output == expected\n")
    own = {"type": "custom", "customScorerPath": "own.py", "timeoutMs": 60_000, "name": "own"}
    settings = {"allow_custom_code": True, "benchmark_folder": tmp_path}
    found = judged(own, "exact", expectedOutput={"value": "42"}, settings=settings)
    assert (found.status, found.dimensions["own"]) == ("pass", 1.0)


def test_what_is_expected_is_filled_in_where_an_entry_has_none_of_its_own() -> None:
    expected = {"value": "42", "keywords": ["4"]}
    own = {"type": "contains", "keywords": ["7"], "not": True}
    assert judged("exact", "contains", own, expectedOutput=expected).status == "pass"


def test_a_threshold_reaches_the_scorer_that_has_one(settings: Settings) -> None:
    set_of = scoring({"type": "llm_judge", "criteria": "a", "threshold": 0.8}, settings=settings())
    [(_, judge)] = set_of._named
    assert judge.threshold == 0.8


def test_options_that_are_called_like_a_key_of_the_entry() -> None:
    set_of = scoring(free(1, weight=2, options={"weight": "heavy"}))
    [(_, own)] = set_of._named
    assert own.weight == "heavy"


@each_row(
    ("evaluators", "fields", "path", "says"),
    [
        pytest.param(["exat"], {}, "evaluators[0].type", "did you mean 'exact'", id="unknown-scorer"),
        pytest.param(["exact"], {}, "expectedOutput.value", "of evaluators[0] needs this value", id="nothing-expected"),
        pytest.param([free(1), a_set({"type": "regex", "patterns": ["("]})], {}, "evaluators[1].evaluators[0].patterns[0]", "",
                     id="value-in-a-nested-set"),
        pytest.param([free(1, tresholt=1)], {}, "evaluators[0].tresholt", "did you mean 'threshold'", id="unknown-option"),
        pytest.param([free(1, mark=3)], {}, "evaluators[0].mark", "give text", id="type-of-an-option"),
        pytest.param([free(1, options={"mark": "x"})], {}, "evaluators[0].options.mark", "keep one", id="option-twice"),
        pytest.param([free(1, options={"marks": "x"})], {}, "evaluators[0].options.marks", "no such option", id="in-options"),
        pytest.param([free(1), paid(1, weight=0)], {}, "evaluators[1]", "as-written", id="never-asked"),
        pytest.param([free(1)], {"expected": {"trajectory": []}}, "expected.trajectory", "trajectory_match", id="trajectory"),
    ],
)  # fmt: skip
def test_refused(evaluators: list[Any], fields: dict[str, Any], path: str, says: str) -> None:
    with pytest.raises(InputError) as error:
        scoring(*evaluators, **fields)
    assert error.value.path == f"task 't': {path}"
    assert says in error.value.message


SLOW, MATCHED = r"(?:(a|aa|aaa|a|aa)+)+b\d|a{65}b", "a" * 65 + "b"
"""A pattern that does match, after longer than anybody waits."""


SLOW_SCHEMA = {"type": "json_schema", "schema": {"pattern": "(a|aa)+$"}, "timeoutMs": 20, "not": True}


def slow(*more: str, **fields: Any) -> dict[str, Any]:
    return {"type": "regex", "patterns": [SLOW, *more], "timeoutMs": 20, **fields}


@pytest.mark.slow
@each_row(
    ("evaluators", "fields", "status", "score"),
    [
        pytest.param([slow(**{"not": True})], {}, "error", None, id="not-of-it-does-not-pass"),
        pytest.param([slow(), free()], {}, "error", None, id="nor-does-it-fail-a-set"),
        pytest.param([slow(), free(0)], {"combine": "any"}, "error", None, id="nor-any"),
        pytest.param([slow(), free(1)], {"combine": "any"}, "pass", 1, id="known-without-it"),
        pytest.param([slow(), free(0)], {}, "fail", 0, id="failed-without-it"),
        pytest.param([slow("x"), free(1)], {}, "fail", 1, id="another-pattern-is-missing"),
        pytest.param([slow("x", **{"not": True})], {}, "pass", 0.5, id="and-not-of-that-passes-with-the-least-value"),
        pytest.param([slow("b", threshold=0.5), free()], {}, "pass", 1, id="its-threshold-is-reached"),
        pytest.param([slow("b", threshold=0.7), free()], {}, "error", None, id="its-threshold-may-be-reached"),
        pytest.param([slow("b", "x", "y", threshold=0.7), free()], {}, "fail", 1, id="its-threshold-cannot-be-reached"),
        pytest.param([slow(), free()], {"thresholds": {"minScore": 50}}, "error", None, id="the-score-decides"),
        pytest.param(
            [{"type": "json_schema", "schema": {"pattern": "(a|aa)+$"}, "timeoutMs": 20, "not": True}],
            {},
            "error",
            None,
            id="schema",
        ),
    ],
)
def test_what_ran_out_of_time_is_unknown(evaluators: list[Any], fields: dict[str, Any], status: str, score: float | None) -> None:
    found = judged(*evaluators, output=MATCHED, **fields)
    assert (found.status, found.score) == (status, score)
    if status == "error":
        assert found.error_kind == "scorer"
        assert failing(found)
        assert all("stopped after 20 ms" in each for each in failing(found))
    else:
        assert all(each["scorer"] == "free" for each in found.metadata["evaluators"])  # no value of what is not known


def test_what_ran_out_of_time_is_said_where_the_verdict_is_known_without_it() -> None:
    found = judged(slow(), free(1), output=MATCHED, combine="any")
    assert [code for code, message in remarks(found) if "not known: pattern" in message] == ["OUTPUT_REGEX_TIMEOUT"]


def test_an_answer_too_deep_for_its_schema_is_unknown() -> None:
    deep: list[Any] = []
    for _ in range(900):
        deep = [deep]
    found = judged({"type": "json_schema", "schema": {"items": {"$ref": "#"}}, "not": True}, output=deep)
    assert (found.status, found.error_kind) == ("error", "scorer")
