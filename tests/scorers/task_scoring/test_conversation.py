from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse, TurnResponse, Verdict
from eval_skills.scorers import TaskScoring, score_response_sync
from eval_skills.scorers.score import remark
from eval_skills.scorers.task_scoring.conversation import ConversationScoring
from eval_skills.scorers.task_scoring.conversation_verdict import ScoredPart, joined_verdict
from tests.tables import each_row


def task(*turns: dict[str, Any], **fields: Any) -> EvalTask:
    return EvalTask.model_validate({"id": "talk", "turns": list(turns), **fields})


def said(*answers: Any, **fields: Any) -> SkillResponse:
    turns = [answer if isinstance(answer, dict) else {"output": answer} for answer in answers]
    return SkillResponse.of_turns([TurnResponse.model_validate({"toolCalls": [], **turn, **fields}) for turn in turns])


def judged(asked: EvalTask, *answers: Any, **fields: Any) -> Verdict:
    return score_response_sync(asked, said(*answers, **fields))


CITY = {"input": "capital of France?", "expected": "Paris"}
MORE = {"input": "and its river?", "expected": "Seine"}
THANKS = {"input": "thanks"}


def test_it_passes_where_every_turn_does_and_scores_the_mean() -> None:
    verdict = judged(task(CITY, THANKS, MORE), "Paris", "you are welcome", "Seine")
    assert (verdict.status, verdict.score, verdict.passed) == ("pass", 1.0, True)
    verdict = judged(task(CITY, THANKS, MORE), "Paris", "", "Rhine")
    assert (verdict.status, verdict.score, verdict.passed) == ("fail", 0.5, False)


def test_a_turn_of_which_nothing_is_expected_is_not_scored() -> None:
    turns = judged(task(CITY, THANKS), "Paris", None).turns or []
    assert [turn and turn.status for turn in turns] == ["pass", None]


def test_reasons_name_the_turn_and_its_place() -> None:
    [reason] = judged(task(CITY, MORE), "Paris", "Rhine").reasons
    assert (reason.message, reason.where) == ('turn 2: expected "Seine", got "Rhine"', "turns[1].output")


def test_that_no_model_was_asked_about_one_turn_is_not_said_of_a_whole_that_one_judged() -> None:
    none = ScoredPart(Verdict(status="fail", score=0.0, passed=False, reasons=[remark("NOT_JUDGED", "gate", "output")]), False)
    whole = ScoredPart(Verdict(status="pass", score=1.0, passed=True, judge_requests=1, judge_tokens=9), False)
    assert [each.code for each in joined_verdict([none], whole, None, None).reasons] == ["NOT_ASKED"]
    assert [each.code for each in joined_verdict([none], None, None, None).reasons] == ["NOT_JUDGED"]


def test_what_the_task_itself_expects_is_asked_of_the_whole() -> None:
    asked = task(CITY, THANKS, expectedOutput={"type": "contains", "keywords": ["welcome"]}, thresholds={"maxCost": 1.0})
    assert judged(asked, "Paris", "welcome", costUsd=0.4).passed
    dear = judged(asked, "Paris", "welcome", costUsd=0.6)
    assert (dear.status, [reason.code for reason in dear.reasons]) == ("fail", ["COST_ABOVE_MAX"])
    silent = judged(asked, "Paris", "bye", costUsd=0.1)
    assert (silent.status, silent.score) == ("fail", 0.5)


def test_gates_alone_add_nothing_to_the_mean() -> None:
    assert judged(task(CITY, thresholds={"maxCost": 1.0}), "Rome", costUsd=0.1).score == 0.0
    alone = judged(task(THANKS, thresholds={"maxCost": 1.0}), "bye", costUsd=0.1)
    assert (alone.status, alone.score) == ("pass", 1.0)


def test_the_tools_of_all_turns_count_for_the_whole() -> None:
    asked = task(CITY, MORE, expected={"toolSequence": ["search", "book"]})
    whole = judged(
        asked, {"output": "Paris", "toolCalls": [{"name": "search"}]}, {"output": "Seine", "toolCalls": [{"name": "book"}]}
    )
    assert whole.dimensions["sequence_correctness"] == 1.0


def test_min_score_holds_for_the_mean_where_the_whole_has_no_score_of_its_own() -> None:
    loose = {
        "input": "x",
        "expectedOutput": {"type": "contains", "keywords": ["a", "b", "c", "d"]},
        "thresholds": {"minScore": 50},
    }
    verdict = judged(task(loose, loose, thresholds={"minScore": 80}), "a b c", "a b c d")
    assert (verdict.status, verdict.score) == ("pass", 0.875)
    low = judged(task(loose, loose, thresholds={"minScore": 90}), "a b c", "a b c d")
    assert (low.status, [reason.code for reason in low.reasons if not reason.informational]) == ("fail", ["SCORE_BELOW_MIN"])


class TestForbiddenTools:
    ASKED = task({**CITY, "expected": {"forbiddenTools": ["book"]}, "expectedOutput": {"value": "Paris"}}, MORE)

    def test_what_a_turn_forbids_is_held_against_it_alone(self) -> None:
        assert judged(self.ASKED, "Paris", {"output": "Seine", "toolCalls": [{"name": "book"}]}).passed
        verdict = judged(self.ASKED, {"output": "Paris", "toolCalls": [{"name": "book"}]}, "Seine")
        assert (verdict.status, verdict.score, verdict.reasons[0].code) == ("fail", 0.0, "FORBIDDEN_TOOL_CALLED")
        assert verdict.reasons[0].where == "turns[0].toolCalls[0]"

    def test_what_the_task_forbids_is_forbidden_in_every_turn(self) -> None:
        asked = task(CITY, MORE, expected={"forbiddenTools": ["rm"]})
        verdict = judged(asked, "Paris", {"output": "Seine", "messages": [{"role": "tool", "name": "rm", "content": "done"}]})
        assert verdict.reasons[0].message.startswith("turn 2: forbidden tool 'rm'")

    def test_a_turn_that_does_not_say_what_it_called_cannot_pass(self) -> None:
        verdict = judged(task(CITY, MORE, expected={"forbiddenTools": ["rm"]}), "Paris", {"output": "Seine", "toolCalls": None})
        assert (verdict.status, verdict.forbidden_unknown, verdict.score) == ("fail", True, 0.0)
        assert verdict.reasons[0].message.startswith("turn 2: ")

    def test_what_is_known_of_a_conversation_that_was_cut_off_is_enough(self) -> None:
        scoring = TaskScoring(self.ASKED)
        turn = TurnResponse.model_validate({"toolCalls": [{"name": "book"}]})
        cut = SkillResponse.of_turns([turn], ended=False)
        assert scoring.violation(cut) is not None
        assert scoring.open_question(SkillResponse.of_turns([TurnResponse()], ended=False)) is not None
        later = SkillResponse.of_turns([TurnResponse(output="Paris", tool_calls=[]), TurnResponse()], ended=False)
        assert scoring.open_question(later) is None


def test_a_bare_expected_answer_is_what_its_evaluator_compares_with() -> None:
    keywords = {"input": "x", "evaluator": "contains", "expected": "Paris"}
    assert judged(task(keywords), "it is Paris").passed
    listed = {"input": "x", "evaluator": {"type": "regex"}, "expected": ["^P", "s$"]}
    assert judged(task(listed), "Paris").score == 1.0
    with_default = TaskScoring(task({"input": "x", "expected": "Paris"}), {"defaultEvaluator": "contains"})
    assert with_default.scorer == "contains"


@pytest.mark.parametrize("answers", [pytest.param(("Paris",), id="fewer"), pytest.param(("Paris", "Seine", "x"), id="more")])
def test_an_answer_of_other_turns_is_an_error_and_no_verdict(answers: tuple[str, ...]) -> None:
    verdict = judged(task(CITY, MORE), *answers)
    assert (verdict.status, verdict.error_kind, verdict.score) == ("error", "contract", None)
    assert score_response_sync(task(CITY), SkillResponse(output="Paris")).error_kind == "contract"


@pytest.mark.slow
def test_a_scorer_that_fails_makes_it_an_error_unless_another_part_failed(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def score(*_):\n    raise ValueError('no')\n")
    broken = {"input": "x", "evaluator": {"type": "custom", "customScorerPath": "own.py"}}
    settings = {"allowCustomCode": True, "benchmarkFolder": tmp_path}
    alone = score_response_sync(task(CITY, broken), said("Paris", "hm"), settings)
    assert (alone.status, alone.score, alone.error_kind) == ("error", None, "scorer")
    failed = score_response_sync(task(CITY, broken), said("Rome", "hm"), settings)
    assert (failed.status, failed.score, failed.error_kind) == ("fail", 0.0, None)


def test_a_refused_turn_is_named() -> None:
    with pytest.raises(InputError, match=r"task 'talk': turns\[1\].evaluator.x"):
        TaskScoring(task(CITY, {"input": "y", "evaluator": {"type": "exact", "x": 1}, "expected": 1}))


def test_a_claim_may_rest_on_what_was_said_or_found_in_earlier_turns_but_not_on_the_agents_own_words() -> None:
    checked = {"input": "how many?", "checks": {"hallucination": True}}
    asked = task({"input": "we are 42 people"}, checked)
    assert judged(asked, "ok", "42 people").passed
    found = {"output": "ok", "toolCalls": [{"name": "count", "result": "77"}]}
    assert judged(task(THANKS, checked), found, "77 people").passed
    assert not judged(task(THANKS, checked), "77 people", "77 people").passed


def test_the_scoring_of_a_task_with_turns_is_a_kind_of_its_own() -> None:
    assert isinstance(TaskScoring(task(CITY)), ConversationScoring)
    assert (
        type(TaskScoring(EvalTask.model_validate({"id": "a", "evaluator": "exact", "expectedOutput": {"value": 1}})))
        is TaskScoring
    )


@pytest.mark.slow
def test_a_thousand_turns_are_judged() -> None:
    verdict = judged(task(*[CITY] * 1000), *["Paris"] * 999, "Rome")
    assert (verdict.status, verdict.score) == ("fail", 0.999)
    assert len(verdict.reasons) == 1


@pytest.mark.parametrize("least", [0, 50])
def test_a_least_score_of_nothing_is_refused(least: int) -> None:
    with pytest.raises(InputError, match=r"thresholds.minScore: minScore is set and nothing is scored"):
        TaskScoring(task(THANKS, thresholds={"minScore": least}))


PAYS = {"output": "Paris", "toolCalls": [{"name": "pay"}]}


@each_row(
    ("forbidding", "answers", "status", "unknown"),
    [
        pytest.param("whole", [PAYS], "fail", False, id="called-in-a-turn-that-is-there"),
        pytest.param("whole", ["Paris"], "error", True, id="a-turn-is-missing"),
        pytest.param("whole", ["Paris", "Seine", PAYS], "fail", False, id="called-in-a-turn-too-many"),
        pytest.param("whole", ["Paris", "Seine", "bye"], "error", False, id="too-many-and-all-known"),
        pytest.param("second", [PAYS], "error", True, id="the-turn-that-forbids-is-missing"),
        pytest.param("none", [PAYS], "error", False, id="nothing-is-forbidden"),
    ],
)
def test_p40_a_conversation_of_too_few_or_too_many_turns_leaves_no_forbidden_call_out(
    forbidding: str, answers: list[Any], status: str, unknown: bool
) -> None:
    gate = {"expected": {"forbiddenTools": ["pay"]}}
    asked = task(CITY, {**MORE, **(gate if forbidding == "second" else {})}, **(gate if forbidding == "whole" else {}))
    verdict = judged(asked, *answers)
    assert (verdict.status, verdict.forbidden_unknown) == (status, unknown)
    assert [reason.code for reason in verdict.reasons][1:] == (["TOOL_CALLS_UNKNOWN"] if unknown else [])


def test_p40_an_answer_without_turns_says_nothing_of_what_they_called() -> None:
    gate = {"expected": {"forbiddenTools": ["pay"]}}
    verdict = score_response_sync(task({**CITY, **gate}), SkillResponse.model_validate(PAYS))
    assert (verdict.status, verdict.forbidden_unknown) == ("error", True)
    assert score_response_sync(task(CITY, **gate), SkillResponse.model_validate(PAYS)).status == "fail"
