"""`resume`: a run that was interrupted goes on where it was, and asks only what has no result yet."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import pytest

import eval_skills as es
from eval_skills.core.errors import InputError, UsageError, UserError
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.plan import make_plan
from tests.warm_command import WarmCommand

TASKS: list[dict[str, Any]] = [{"id": f"t{number}", "input": number, "expected": number} for number in range(6)]
ROOT = Path(__file__).parents[2]
RUN = "import runpy, sys; runpy.run_path(sys.argv.pop(1), run_name='__main__')"
PROGRAM = """
import os, signal, sys, time
import eval_skills as es

def skill(value):
    with open("calls", "a") as calls:
        calls.write(f"{value}\\n")
    if value == 3 and sys.argv[1:] == ["first"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return value

tasks = [{"id": f"t{number}", "input": number, "expected": number} for number in range(6)]
asked = {} if sys.argv[1:] == ["first"] else {"resume": "latest"}
result = es.evaluate(skill, tasks, store="store", concurrency=1, **asked)
print(result.completion, len(result.items), result.remarks)
"""


class Skill:
    """Answers with its input; it fails on the tasks of `broken`, and notes what it was asked."""

    def __init__(self, *broken: int) -> None:
        self.broken, self.asked = set(broken), list[int]()

    async def __call__(self, value: int) -> int:
        self.asked.append(value)
        if value in self.broken:
            raise ValueError("broken")
        return value


def evaluate(skill: Any, store: Path, tasks: Any = TASKS, **options: Any) -> es.EvaluationResult:
    return es.evaluate({"same": skill}, tasks, store=store, retries=0, **options)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def test_a_killed_program_asks_only_what_has_no_result(tmp_path: Path, warm_command: WarmCommand) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    code, _, told = warm_command.python(RUN, "program.py", "first", cwd=tmp_path).output(120)
    assert code == -signal.SIGKILL, told
    assert warm_command.python(RUN, "program.py", cwd=tmp_path).output(120) == (0, "1.0 6 []\n", "")
    assert (tmp_path / "calls").read_text().split() == ["0", "1", "2", "3", "3", "4", "5"]


@pytest.mark.slow
def test_a_run_that_reached_a_limit_goes_on(store: Path) -> None:
    stopped = evaluate(Skill(), store, max_duration_s=1e-6)
    assert stopped.stopped
    assert evaluate(Skill(), store, resume=stopped.run_id).stopped
    skill = Skill()
    whole = evaluate(skill, store, resume=stopped.run_id, max_duration_s=None)
    assert (whole.run_id, whole.stopped, whole.completion, len(whole.items)) == (stopped.run_id, None, 1, 6)
    assert sorted(skill.asked) == [*range(6)][6 - len(skill.asked) :]


@pytest.mark.slow
def test_errors_are_asked_again_where_that_is_said(store: Path) -> None:
    first = evaluate(Skill(2, 4), store)
    assert first.completion == pytest.approx(4 / 6)
    whole = Skill()
    assert evaluate(whole, store, resume="latest").completion == first.completion
    assert whole.asked == []
    again = evaluate(whole, store, resume=first.run_id[:-2], retry_errors=True)
    assert (again.completion, sorted(whole.asked)) == (1, [2, 4])
    assert list(es.Store(store).run_ids()) == [first.run_id]


@pytest.mark.slow
def test_so_it_does_on_the_callers_own_loop_and_with_a_benchmark(store: Path) -> None:
    benchmark = es.load_benchmark("coding-easy")

    async def stopped_and_resumed() -> tuple[es.EvaluationResult, es.EvaluationResult]:
        first = await es.aevaluate({"same": Skill()}, benchmark, store=store, max_duration_s=1e-6)
        return first, await es.aevaluate({"same": Skill()}, benchmark, store=store, resume="latest", max_duration_s=None)

    first, second = asyncio.run(stopped_and_resumed())
    assert (first.run_id, len(second.items)) == (second.run_id, len(benchmark.tasks))


@pytest.mark.slow
def test_a_run_of_paths_goes_on_from_the_command_line_and_back(store: Path) -> None:
    skill = str(ROOT / "examples" / "skills" / "calculator")
    first = es.evaluate(skill, "coding-easy", store=store, task_ids=["evaluate-addition"], max_duration_s=1e-6)
    again = es.evaluate(skill, "coding-easy", store=store, resume=first.run_id, max_duration_s=None)
    assert ([item.task_id for item in again.items], again.completion) == (["evaluate-addition"], 1)
    with pytest.raises(UsageError, match=r"evaluates calculator@1\.0\.0, and these skills are same@0\.0\.0"):
        evaluate(len, store, "coding-easy", resume=first.run_id)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        pytest.param(
            {"skills": {"other": len}}, "evaluates same@0.0.0, and these skills are other@0.0.0; give the same", id="skill"
        ),
        pytest.param(
            {"skills": {"same": len, "more": len}},
            "these skills are more@0.0.0, same@0.0.0; give the same ones",
            id="more-skills",
        ),
        pytest.param(
            {"skills": {"same": len}}, "evaluates also@0.0.0, same@0.0.0, and these skills are same@0.0.0", id="fewer-skills"
        ),
        pytest.param({"tasks": TASKS[:5]}, "benchmark 'tasks' changed since run .* start a new run without resume", id="tasks"),
        pytest.param({"tasks": "coding-easy"}, 'benchmark decides results and was "tasks" when run', id="benchmark"),
        pytest.param({"runs": 2}, "runs decides results and was 1 when run .* began; leave it out", id="option"),
        pytest.param({"tool_names": "normalised"}, 'tool_names decides results and was "exact"', id="judging"),
        pytest.param({"resume": "20200101T000000Z-0000"}, "no run 20200101T000000Z-0000", id="no-such-run"),
        pytest.param({"resume": " "}, "resume is blank; give the id of a run", id="blank"),
        pytest.param({"resume": 5}, "resume: give text; got 5", id="no-text"),
    ],
)
def test_what_would_not_belong_together_is_refused(store: Path, changed: dict[str, Any], message: str) -> None:
    es.evaluate({"same": len, "also": len} if changed.get("skills") == {"same": len} else {"same": len}, TASKS, store=store)
    call = {"skills": {"same": len}, "tasks": TASKS, "resume": "latest", **changed}
    with pytest.raises(UserError, match=message):
        es.evaluate(call.pop("skills"), call.pop("tasks"), store=store, **call)


def test_what_cannot_be_resumed(store: Path) -> None:
    with pytest.raises(UsageError, match="resume goes on with a run of a store; give its place as store"):
        es.evaluate(len, TASKS, resume="latest")
    with pytest.raises(UsageError, match=r"nothing to resume: the store .* holds no run; start one without resume"):
        evaluate(len, store, resume="latest")
    with pytest.raises((UsageError, InputError), match=r"^retry_errors is about an earlier run; name it with resume"):
        evaluate(len, store, retry_errors=True)


def test_a_run_that_calls_nothing_of_the_program_is_left_to_its_command(store: Path, tmp_path: Path) -> None:
    tasks, traces = tmp_path / "tasks.json", tmp_path / "traces.jsonl"
    tasks.write_text(json.dumps([{"id": "a", "inputData": {}, "expectedOutput": {"value": 1}}]))
    traces.write_text(json.dumps({"skillId": "same", "taskId": "a", "response": {"output": 1}}))
    recorded = EvaluateRequest(traces=str(traces), tasks=str(tasks), store=str(store))
    own = EvaluateRequest(
        skills=[str(ROOT / "examples/skills/calculator")], own_tests=True, store=str(store), max_duration_s=1e-6
    )
    for request, given, what in (
        (recorded, tasks, "scores recorded answers"),
        (own, "coding-easy", "asks each skill its own tests"),
    ):
        run_id = evaluate_in_process(make_plan(request)).run_id
        with pytest.raises(UsageError, match=f"run {run_id} {what}; continue with: eval-skills eval --resume {run_id} --store "):
            evaluate(len, store, given, resume=run_id)


@pytest.mark.slow
def test_changed_sources_are_remarks(store: Path) -> None:
    def skill(value: int) -> int:
        return value

    def judge(output: int, expected: int) -> bool:
        return output == expected

    evaluate(skill, store, evaluator=judge)

    def later(value: int) -> int:
        return value + 0

    def stricter(output: int, expected: int) -> bool:
        return output is expected

    stricter.__name__ = "judge"
    result = evaluate(later, store, evaluator=stricter, resume="latest")
    assert "same@0.0.0 changed since run" in result.remarks[0]
    assert f"what judges 6 tasks (t0, t1, t2, t3, t4 and 1 more) changed since run {result.run_id} began" in result.remarks[1]
    assert "older verdicts are kept" in result.remarks[1]
    assert len(result.remarks) == 2
