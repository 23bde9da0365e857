"""Conversations from the plan to the store: run, cut off, resumed, recorded, judged again, asked for by SQL."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import eval_skills as es
from eval_skills.adapters.recorded import read_recorded
from eval_skills.core.errors import InputError, UserError
from eval_skills.core.models import ItemResult
from eval_skills.core.redaction import Redaction
from eval_skills.core.store import Journal, Store, results_of, table_of, write_manifest
from eval_skills.core.store.journal import line_of, result_of
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.execution import Outcome
from eval_skills.engine.evaluation.executor import LocalExecutor
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.plan import make_plan
from eval_skills.engine.evaluation.resume import resumed_plan
from eval_skills.engine.evaluation.retries import final_result
from eval_skills.engine.evaluation.session import manifest_of
from eval_skills.engine.rescoring.plan import plan_rescoring
from eval_skills.engine.rescoring.request import RescoreRequest
from eval_skills.engine.rescoring.rescore import rescore
from tests.engine.backfill.backfills import backfill
from tests.scripted_model import ScriptedModel
from tests.tables import each_row

if TYPE_CHECKING:
    from tests.engine.evaluations import MakeRequest

PATIENCE_MS = 60_000

SKILL = """
import json, os, sys, time
for number, line in enumerate(sys.stdin, start=1):
    request = json.loads(line)
    said = request["params"]
    if said == "die" or (said == "die once" and not os.path.exists("died")):
        open("died", "w").close()
        os._exit(9)
    if said == "hang":
        time.sleep(600)
    calls = [{"name": said[5:]}] if said.startswith("call ") else []
    result = {"output": f"{number}: {said}", "toolCalls": calls, "costUsd": 0.5}
    result["usage"] = {"promptTokens": 2}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""

GOOD = [{"input": "a", "expected": "1: a"}, {"input": "b"}, {"input": "c", "expected": "3: c"}]


@pytest.fixture
def planned(tmp_path: Path, write_skill: Callable[..., Path], make_request: MakeRequest) -> Callable[..., Any]:
    """A plan to say these turns to the skill, which numbers what it is told; keyword arguments are further keys of the task."""

    def make(*turns: dict[str, Any], request: dict[str, Any] | None = None, **task: Any) -> Any:
        (write_skill() / "skill.py").write_text(SKILL)
        (tmp_path / "tasks.json").write_text(json.dumps([{"id": "talk", "turns": list(turns), **task}]))
        return make_plan(make_request(tasks=str(tmp_path / "tasks.json"), **{"timeout_ms": PATIENCE_MS, **(request or {})}))

    return make


async def outcome_of(plan: Any) -> Outcome:
    async with LocalExecutor(plan) as here:
        return await here.execute(plan.items[0], ())


def shown(result: ItemResult) -> list[tuple[Any, ...]]:
    return [(turn.turn, turn.input, turn.output, turn.status, turn.score) for turn in result.turns or []]


async def test_an_item_has_its_turns_with_their_verdicts(planned: Callable[..., Any]) -> None:
    result = (await outcome_of(planned(*GOOD))).result
    assert (result.status, result.score, result.output, result.cost_usd, result.prompt_tokens) == ("pass", 1.0, "3: c", 1.5, 6)
    assert shown(result) == [(1, "a", "1: a", "pass", 1.0), (2, "b", "2: b", None, None), (3, "c", "3: c", "pass", 1.0)]
    assert result.latency_ms == pytest.approx(sum(turn.latency_ms or 0 for turn in result.turns or []))
    [stored] = results_of(table_of([result]))
    assert stored == result


@pytest.mark.parametrize(("what", "status", "kind"), [("die", "error", "skill"), ("hang", "timeout", "timeout")])
async def test_an_end_in_a_turn_is_the_items_and_names_the_turn(
    planned: Callable[..., Any], what: str, status: str, kind: str
) -> None:
    last = {"input": what, "timeoutMs": 1_000 if what == "hang" else PATIENCE_MS}
    outcome = await outcome_of(planned({"input": "call look", "expected": "x"}, last, {"input": "c"}))
    result = outcome.result
    assert (result.status, result.error_kind, result.score, outcome.transient) == (status, kind, None, True)
    assert (result.error_message or "").startswith("turn 2 of 3: ")
    assert shown(result) == [(1, "call look", "1: call look", None, None), (2, what, None, status, None)]
    assert ((result.turns or [])[1].error_message, result.cost_usd) == (result.error_message, 0.5)
    assert [call.name for call in result.tool_calls or []] == ["look"]
    assert results_of(table_of([result])) == [result]


async def test_a_forbidden_call_in_an_earlier_turn_is_seen_however_it_ends(planned: Callable[..., Any]) -> None:
    plan = planned({"input": "call pay"}, {"input": "die"}, expected={"forbiddenTools": ["pay"]})
    outcome = await outcome_of(plan)
    assert (outcome.result.status, outcome.result.score, outcome.transient) == ("fail", 0.0, False)
    assert outcome.result.reasons[0].code == "FORBIDDEN_TOOL_CALLED"


async def test_what_the_last_turn_called_stays_an_open_question(planned: Callable[..., Any]) -> None:
    result = (await outcome_of(planned({"input": "call look"}, {"input": "die"}, expected={"forbiddenTools": ["pay"]}))).result
    assert (result.status, result.forbidden_unknown) == ("error", True)


async def test_another_attempt_begins_with_the_first_turn_in_a_new_session(
    planned: Callable[..., Any], open_run: Callable[..., Any]
) -> None:
    plan = planned({"input": "a", "expected": "1: a"}, {"input": "die once", "expected": "2: die once"})
    async with open_run(plan) as session:
        result = await final_result(session, plan.items[0], retries=1)
    assert result is not None
    assert (result.status, len(result.attempts)) == ("pass", 2)
    assert [turn.output for turn in result.turns or []] == ["1: a", "2: die once"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("turns", "task"),
    [
        (GOOD, {"expected": {"forbiddenTools": ["pay"]}}),
        ([{"input": "a"}, {"input": "hang", "timeoutMs": 300}], {"expected": {"output": {"contains": ["a"]}}}),
        ([{"input": "call pay"}, {"input": "die"}], {"expected": {"forbiddenTools": ["pay"]}}),
        ([{"input": "call pay"}, {"input": "die once"}, {"input": "x"}], {"expected": {"forbiddenTools": ["pay"]}}),
    ],
)
def test_a_replay_is_judged_as_the_conversation_was(
    planned: Callable[..., Any],
    tmp_path: Path,
    turns: list[dict[str, Any]],
    task: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("eval_skills.engine.evaluation.retries.delay_s", lambda attempt: 0.0)
    file = str(tmp_path / "recorded.jsonl")
    plan = planned(*turns, **task, request={"retries": 1, "record": file})
    live = _landed(plan)
    again = _landed(make_plan(plan.request.model_copy(update={"record": None, "replay": file})))
    own = {"run_id", "started_at", "attempts", "origin", "skill_digest"}
    assert again.model_dump(exclude=own) == live.model_dump(exclude=own)
    assert [each.error_kind for each in again.attempts] == [each.error_kind for each in live.attempts]


def _landed(plan: Any) -> ItemResult:
    evaluate_in_process(plan)
    return results_of(plan.store.item_table(plan.run_id))[0]


async def test_a_secret_in_a_turn_reaches_no_file(planned: Callable[..., Any]) -> None:
    result = (await outcome_of(planned({"input": "passed", "expected": "x"}))).result
    line = line_of(result, Redaction({"MY_TOKEN": "passed"}))
    stored = result_of(line, source=Path("journal.jsonl"), number=1)
    assert [(turn.input, turn.output) for turn in stored.turns or []] == [("[redacted:MY_TOKEN]", "1: [redacted:MY_TOKEN]")]
    assert (stored.turns or [])[0].status == "fail"


async def test_a_run_that_was_interrupted_goes_on_with_whole_conversations(
    planned: Callable[..., Any], make_request: MakeRequest, tmp_path: Path
) -> None:
    plan = planned(*GOOD, request={"runs": 2})
    write_manifest(plan.store.run_folder(plan.run_id), manifest_of(plan))
    with Journal(plan.store.journal_path(plan.run_id)) as journal:
        journal.append((await outcome_of(plan)).result)
    rest = resumed_plan(make_request(tasks=str(tmp_path / "tasks.json"), resume=plan.run_id))
    assert (rest.finished, [item.run for item in rest.items]) == (1, [1])
    result = (await outcome_of(rest)).result
    assert shown(result)[0] == (1, "a", "1: a", "pass", 1.0)


def numbering(value: str, conversation: dict[str, Any]) -> Any:
    return {"output": f"{conversation['turn']}: {value}", "toolCalls": []}


def turns_of(store: Store, run_id: str) -> dict[tuple[str, int], Any]:
    return {
        (result.task_id, turn.turn): (result.status, result.score, turn.status, turn.score, [each.code for each in turn.reasons])
        for result in results_of(store.item_table(run_id))
        for turn in result.turns or []
    }


@pytest.mark.slow
def test_judged_again_the_stored_turns_have_the_same_verdicts(tmp_path: Path) -> None:
    bad = [{"input": "a", "expected": "1: a"}, {"input": "b", "expected": "?"}]
    tasks = [{"id": "good", "turns": GOOD}, {"id": "bad", "turns": bad, "expected": {"forbiddenTools": ["rm"]}}]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    run = es.evaluate(numbering, tmp_path / "tasks.json", store=tmp_path / "store")
    store = Store(str(tmp_path / "store"))
    before = turns_of(store, run.run_id)
    assert before["bad", 2] == ("fail", 0.5, "fail", 0.0, ["OUTPUT_MISMATCH"])
    plan = plan_rescoring(RescoreRequest(run_id=run.run_id, store=store.path, force=True))
    rescore(plan)
    assert turns_of(store, plan.run_id) == before
    (tmp_path / "tasks.json").write_text(
        json.dumps([*tasks[:1], {"id": "bad", "turns": [bad[0], {"input": "b", "expected": "2: b"}]}])
    )
    mended = plan_rescoring(RescoreRequest(run_id=run.run_id, store=store.path))
    rescore(mended)
    assert turns_of(store, mended.run_id)["bad", 2] == ("pass", 1.0, "pass", 1.0, [])
    current = store.query("SELECT task_id, turn, status, output FROM turns WHERE task_id = 'bad' ORDER BY turn")
    assert current.values.tolist() == [["bad", 1, "pass", '"1: a"'], ["bad", 2, "pass", '"2: b"']]


@pytest.mark.slow
def test_an_answer_that_was_cut_is_not_judged_again(tmp_path: Path) -> None:
    def long(value: str, conversation: dict[str, Any]) -> str:
        return "x" * 100_000 if value == "a" else "short"

    turns = [{"input": "a", "expected": "x" * 100_000}, {"input": "b", "expected": "short"}]
    (tmp_path / "tasks.json").write_text(json.dumps([{"id": "t", "turns": turns}, {"id": "u", "turns": turns[1:] * 2}]))
    run = es.evaluate(long, tmp_path / "tasks.json", store=tmp_path / "store")
    assert run.items[0].passed
    plan = plan_rescoring(RescoreRequest(run_id=run.run_id, store=str(tmp_path / "store")))
    assert [result.task_id for result in plan.results] == ["u"]


def test_tasks_of_python_may_have_turns() -> None:
    result = es.evaluate(numbering, [{"turns": [{"input": "a", "expected": "1: a"}, {"input": ("b",)}]}])
    assert [(turn.input, turn.output, turn.status) for turn in result.items[0].turns or []] == [
        ("a", "1: a", "pass"),
        (["b"], "2: ['b']", None),
    ]
    with pytest.raises(UserError, match=r"tasks\[0\].*turns\[0\].*unknown key 'expcted'"):
        es.evaluate(numbering, [{"turns": [{"input": "a", "expcted": "1: a"}]}])
    with pytest.raises(UserError, match="input"):
        es.evaluate(numbering, [{"input": 1, "turns": [{"input": "a", "expected": "1: a"}]}])


@pytest.mark.slow
def test_a_backfill_judges_stored_conversations_with_their_turns(planned: Callable[..., Any], tmp_path: Path) -> None:
    plan = planned(*GOOD)
    evaluate_in_process(plan)
    turns = [{"input": "a", "expected": "1: a"}, {"input": "b", "expected": "?"}, {"input": "c"}]
    (tmp_path / "tasks.json").write_text(json.dumps([{"id": "talk", "turns": turns}]))
    [row] = backfill(plan.store, "rescore").rows
    assert row["completion_rate"] == 0.0
    assert [status for status, *_ in turns_of(plan.store, row["run_id"]).values()] == ["fail"] * 3
    assert turns_of(plan.store, row["run_id"])["talk", 2][2:] == ("fail", 0.0, ["OUTPUT_MISMATCH"])


async def test_a_judging_model_sees_the_conversation_up_to_its_turn(planned: Callable[..., Any], model: ScriptedModel) -> None:
    criteria = {"type": "llm_judge", "criteria": "It counts."}
    llm = {"llm": {"model": "openai/scripted", "apiBase": model.url}}
    turns = [{"input": "a"}, {"input": "b", "evaluator": criteria}, {"input": "c"}]
    result = (await outcome_of(planned(*turns, request=llm))).result
    [asked] = model.asked
    assert (result.status, (result.turns or [])[1].score, result.judge_requests) == ("pass", 1.0, 1)
    assert all(each in asked.prompt for each in ('"output": "1: a"', '"input": "b"', "2: b"))
    assert "3: c" not in asked.prompt


class TestRecordedRuns:
    @pytest.fixture
    def judged(self, tmp_path: Path) -> Callable[..., ItemResult]:
        def judge(line: dict[str, Any], turns: list[dict[str, Any]] = GOOD, **task: Any) -> ItemResult:
            (tmp_path / "tasks.json").write_text(json.dumps([{"id": "talk", "turns": turns, **task}]))
            (tmp_path / "runs.jsonl").write_text(json.dumps({"taskId": "talk", **line}))
            request = EvaluateRequest(
                tasks=str(tmp_path / "tasks.json"), traces=str(tmp_path / "runs.jsonl"), store=str(tmp_path / "store"), format=[]
            )
            plan = make_plan(request)
            evaluate_in_process(plan)
            return results_of(plan.store.item_table(plan.run_id))[0]

        return judge

    def test_the_turns_of_a_line_are_judged(self, judged: Callable[..., ItemResult]) -> None:
        spoken = [{"role": "user", "content": "b"}, {"role": "assistant", "content": "2: b"}]
        line = {"turns": [{"output": "1: a", "costUsd": 1}, {"messages": spoken, "costUsd": None}, {"output": "3: c"}]}
        result = judged(line)
        assert (result.status, result.cost_usd) == ("pass", None)
        assert shown(result) == [(1, "a", "1: a", "pass", 1.0), (2, "b", "2: b", None, None), (3, "c", "3: c", "pass", 1.0)]

    @pytest.mark.slow
    def test_one_that_ended_in_an_error_is_one(self, judged: Callable[..., ItemResult]) -> None:
        result = judged({"turns": [{"output": "1: a", "toolCalls": [{"name": "rm"}]}], "error": "broke"})
        assert (result.status, result.error_kind, len(result.turns or [])) == ("error", "skill", 2)
        failed = judged(
            {"turns": [{"output": "1: a", "toolCalls": [{"name": "rm"}]}], "error": "broke"}, expected={"forbiddenTools": ["rm"]}
        )
        assert failed.status == "fail"

    @pytest.mark.slow
    def test_a_line_of_other_turns_is_an_error(self, judged: Callable[..., ItemResult]) -> None:
        assert judged({"output": "1: a"}).error_kind == "contract"
        assert judged({"turns": [{"output": "1: a"}]}).error_kind == "contract"


@each_row(
    ("line", "said"),
    [
        ({"turns": []}, "turns is an empty list"),
        ({"turns": [{"output": 1}], "output": 1}, "'output' stands beside turns"),
        ({"turns": [{}]}, r"turns\[0\] has no answer"),
        ({"turns": [{"output": 1, "turns": [{"output": 1}]}]}, "a turn has no turns of its own"),
    ],
)
def test_a_recorded_conversation_that_cannot_be_meant_is_refused(line: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_recorded(json.dumps({"taskId": "t", **line}).encode(), "runs.jsonl:1")
