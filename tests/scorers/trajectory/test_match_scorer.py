"""Trajectories as an evaluator of a benchmark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.benchmarks import load_benchmark
from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse, ToolCall, Verdict
from eval_skills.scorers import TaskScoring, score_response_sync
from eval_skills.scorers.trajectory.match_scorer import LONG_MESSAGES
from tests.tables import each_row

USER, TOOL, DONE = {"role": "user", "content": "?"}, {"role": "tool", "content": "!"}, {"role": "assistant", "content": "done"}


def asks(*calls: tuple[str, Any]) -> dict[str, Any]:
    listed = [{"function": {"name": name, "arguments": given}} for name, given in calls]
    return {"role": "assistant", "content": "", "tool_calls": listed}


REFERENCE = [USER, asks(("search", {"q": "owl", "limit": 10}), ("look", {})), TOOL, TOOL, DONE]
SWAPPED = [USER, asks(("look", "{}"), ("search", '{"limit": 10.0, "q": "owl"}')), TOOL, TOOL, DONE]


def task(reference: Any = None, **options: Any) -> EvalTask:
    expected = {"trajectory": REFERENCE if reference is None else reference}
    return EvalTask.model_validate({"id": "t", "expected": expected, "evaluator": {"type": "trajectory_match", **options}})


def verdict(of: EvalTask, messages: Any = None, calls: Any = None, settings: Any = None) -> Verdict:
    response = SkillResponse(messages=messages, tool_calls=calls and [ToolCall.model_validate(each) for each in calls])
    return score_response_sync(of, response, settings)


def test_a_match_scores_1_with_its_figures() -> None:
    found = verdict(task(), SWAPPED)
    assert (found.status, found.score, found.reasons) == ("pass", 1.0, [])
    assert found.metadata["trajectory"] == {
        "matched": 2,
        "missing": 0,
        "extra": 0,
        "precision": 1.0,
        "recall": 1.0,
        "f1": 1.0,
        "lcs": 0.5,
    }


@pytest.mark.parametrize("key", ["arguments", "args", "input", "parameters", "params", "tool_input", "kwargs"])
@pytest.mark.parametrize("listed", [True, False])
def test_arguments_under_any_key_are_not_taken_for_none(key: str, listed: bool) -> None:
    paid, nothing = {"name": "pay", key: {"amount": 999}}, [{"role": "assistant", "tool_calls": [{"name": "pay", "args": {}}]}]
    of = task(nothing, mode="unordered", toolArgsMode="subset")
    found = verdict(of, calls=[paid]) if listed else verdict(of, [{"role": "assistant", "tool_calls": [paid]}])
    assert [reason.message for reason in found.reasons if reason.code == "TRAJECTORY_ARGUMENTS"] != []
    assert found.status == "fail"


def test_p93_a_mismatch_scores_0_with_a_reason_for_each_edit() -> None:
    found = verdict(task(), [USER, asks(("search", '{"q": "owl"}'), ("buy", {})), TOOL, DONE])
    assert (found.status, found.score) == ("fail", 0.0)
    assert [(reason.code, reason.message, reason.where) for reason in found.reasons] == [
        ("TRAJECTORY_ARGUMENTS", "message 2: search: limit expected 10, got nothing", "messages[1]"),
        ("TRAJECTORY_MISSING_CALL", "message 2: missing: look()", "expected.trajectory"),
        ("TRAJECTORY_EXTRA_CALL", "message 2: extra: buy()", "messages[1]"),
        ("TRAJECTORY_MISSING_MESSAGE", "missing: message 3 of the reference (tool)", "expected.trajectory[2]"),
    ]
    assert (found.metadata["trajectory"]["recall"], found.metadata["trajectory"]["missing"]) == (0.0, 2)


def test_a_role_has_a_code_of_its_own() -> None:
    found = verdict(task([USER, DONE]), [USER, TOOL])
    assert [(reason.code, reason.message) for reason in found.reasons] == [
        ("TRAJECTORY_ROLE", "message 2: expected assistant, got tool")
    ]


@each_row(
    ("options", "passes"),
    [
        pytest.param({}, False, id="strict-is-the-default"),
        pytest.param({"mode": "superset"}, False, id="arguments-differ"),
        pytest.param({"mode": "superset", "toolArgsMode": "ignore"}, True, id="p02-arguments-mode"),
        pytest.param({"mode": "superset", "overrides": {"search": "ignore"}}, True, id="p02-override-by-mode"),
        pytest.param({"mode": "superset", "overrides": {"search": ["q"]}}, True, id="p02-override-by-path"),
        pytest.param({"mode": "superset", "overrides": {"search": ["limit"]}}, False, id="p02-override-that-differs"),
        pytest.param({"mode": "superset", "toolArgsMode": "superset"}, True, id="p02-more-arguments"),
        pytest.param({"mode": "unordered", "toolArgsMode": "ignore"}, False, id="one-call-too-many"),
    ],
)
def test_p02_options_reach_the_comparison(options: dict[str, Any], passes: bool) -> None:
    output = [asks(("search", {"q": "owl", "limit": 5, "page": 1}), ("look", {}), ("buy", {}))]
    reference = [asks(("search", {"q": "owl", "limit": 10 if options.get("toolArgsMode") != "superset" else 5}), ("look", {}))]
    assert verdict(task(reference, **options), output).passed is passes


def test_p02_deep_reaches_the_comparison() -> None:
    sides = [asks(("a", {"x": {"y": 1}}))], [asks(("a", {"x": {"y": 1, "z": 1}}))]
    passes = [verdict(task(sides[0], toolArgsMode="superset", deep=deep), sides[1]).passed for deep in (False, True)]
    assert passes == [False, True]


def test_calls_alone_do_for_every_mode_but_strict() -> None:
    calls = [{"name": "look"}, {"name": "search", "arguments": '{"q": "owl", "limit": 10}'}]
    for mode in ("unordered", "subset", "superset"):
        assert verdict(task(mode=mode), None, calls).passed
        assert verdict(task(mode=mode), [USER, DONE], calls).passed, "the messages hold no call, the list beside them does"
    found = verdict(task(), None, calls)
    assert (found.status, [reason.code for reason in found.reasons]) == ("fail", ["TRAJECTORY_UNKNOWN"])


@each_row("mode", ["strict", "unordered", "subset", "superset"])
def test_p40_an_answer_that_says_nothing_of_its_way_never_passes(mode: str) -> None:
    found = verdict(task(mode=mode))
    assert (found.status, [reason.code for reason in found.reasons]) == ("fail", ["TOOL_CALLS_UNKNOWN"])


def test_an_empty_reference_is_one() -> None:
    assert verdict(task([], mode="subset"), [USER, DONE]).passed
    assert not verdict(task([], mode="subset"), [asks(("look", {}))]).passed


def test_unreadable_messages_are_a_failed_answer_not_a_broken_scorer() -> None:
    found = verdict(task(), [{"role": "oracle"}])
    assert (found.status, found.reasons[0].code) == ("fail", "TRAJECTORY_UNREADABLE")
    assert 'messages: message 1: unknown role "oracle"' in found.reasons[0].message


def test_malformed_calls_are_a_mismatch_with_a_reason() -> None:
    reference, output = [asks(("a", {}))], [asks(("a", "{bad"))]
    found = verdict(task(reference), output)
    assert (found.status, [reason.code for reason in found.reasons]) == ("fail", ["MALFORMED_TOOL_CALL"])
    found = verdict(task(reference, toolArgsMode="ignore"), output)
    assert (found.status, [reason.code for reason in found.reasons]) == ("pass", ["MALFORMED_TOOL_CALL"])
    assert found.reasons[0].informational


def test_p76_one_name_policy() -> None:
    reference, output = [asks(("book_room", {"n": 1}))], [asks(("bookRoom", {"n": 2}))]
    assert [reason.code for reason in verdict(task(reference), output).reasons] == ["TOOL_NAME_MISMATCH"]
    of = task(reference, overrides={"BookRoom": "ignore"})
    assert verdict(of, output, settings={"toolNames": "normalised"}).passed
    found = verdict(task(reference), output, settings={"toolNames": "normalised"})
    assert found.reasons[0].message == "message 1: bookRoom: n expected 1, got 2"


def test_long_ones_are_judged_as_well() -> None:
    many = [message for number in range(LONG_MESSAGES) for message in (asks(("step", {"n": number})), TOOL)]
    assert verdict(task(many), many).passed
    found = verdict(task(many), [*many[:77], *many[78:]])
    assert [reason.message for reason in found.reasons] == ["missing: message 78 of the reference (tool)"]


def test_very_many_edits_are_bounded() -> None:
    many = [asks(*(("step", {"n": number}) for number in range(1_000)))]
    found = verdict(task(many, mode="superset"), [USER])
    assert len(found.reasons) == 21
    assert found.reasons[-1].message == "and 980 more"


def test_without_an_evaluator_an_expected_trajectory_is_compared_strictly() -> None:
    of = EvalTask.model_validate({"id": "t", "expected": {"trajectory": REFERENCE}})
    assert of.evaluator_type == "trajectory_match"
    assert verdict(of, SWAPPED).passed
    assert not verdict(of, SWAPPED[:-1]).passed


@each_row(
    ("data", "path", "said"),
    [
        pytest.param({"evaluator": "trajectory_match"}, "expected.trajectory", "needs this value", id="no-reference"),
        pytest.param(
            {"evaluator": "exact_match", "expectedOutput": {"value": 1}, "expected": {"trajectory": []}},
            "expected.trajectory",
            "scorer 'exact_match' does not compare it",
            id="p59-nobody-compares-it",
        ),
        pytest.param(
            {"expected": {"trajectory": [USER, {"role": "oracle"}]}}, "expected.trajectory: message 2", "unknown role", id="role"
        ),
        pytest.param(
            {"expected": {"trajectory": [asks(("a", "{bad"))]}}, "expected.trajectory", "not a JSON object", id="malformed"
        ),
        pytest.param(
            {"expected": {"trajectory": {"steps": []}}}, "expected.trajectory", "expected a list of messages", id="shape"
        ),
        pytest.param(
            {"evaluator": {"type": "trajectory_match", "mode": "ordered"}, "expected": {"trajectory": []}},
            "evaluator.mode",
            "strict",
            id="mode",
        ),
        pytest.param(
            {"evaluator": {"type": "trajectory_match", "overrides": {"a": []}}, "expected": {"trajectory": [asks(("a", {}))]}},
            "evaluator.overrides.a",
            "an empty list compares nothing",
            id="override-that-compares-nothing",
        ),
        pytest.param(
            {"evaluator": {"type": "trajectory_match", "overrides": {"a": "exat"}}, "expected": {"trajectory": []}},
            "evaluator.overrides.a",
            "did you mean 'exact'",
            id="override",
        ),
        pytest.param(
            {"evaluator": {"type": "trajectory_match", "override": {}}, "expected": {"trajectory": []}},
            "evaluator.override",
            "did you mean 'overrides'",
            id="unknown-option",
        ),
    ],
)
def test_load_errors_name_the_place(data: dict[str, Any], path: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        TaskScoring(EvalTask.model_validate({"id": "t", **data}))
    assert caught.value.path == f"task 't': {path}"


def test_a_benchmark_file_may_hold_a_trajectory(tmp_path: Path) -> None:
    tasks = [{"id": "t", "expected": {"trajectory": {"messages": REFERENCE}}, "evaluator": "trajectory_match"}]
    document = {"id": "trips", "name": "Trips", "version": "1.0.0", "tasks": tasks}
    file = tmp_path / "benchmark.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    [loaded] = load_benchmark(str(file)).tasks
    assert EvalTask.model_validate(loaded.model_dump(by_alias=True)) == loaded
    assert verdict(loaded, SWAPPED).passed
    document["tasks"] = [{"id": "t", "expected": {"trajectory": "search"}}]
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError, match="trajectory"):
        load_benchmark(str(file))


def test_a_reason_points_to_no_message_where_they_are_counted_in_turns() -> None:
    call = {"type": "function_call", "name": "look", "arguments": "{}"}
    edit = {"type": "function_call_output", "output": "x"}
    found = verdict(task(mode="strict"), [USER, {"type": "reasoning"}, call, {**call, "name": "eat"}, edit, DONE])
    assert not found.passed
    assert {reason.where for reason in found.reasons if str(reason.where).startswith("messages")} == {"messages"}
