"""`evaluate`: what can be evaluated, what is asked, and what comes back."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock, Mock

import numpy as np
import pandas as pd
import pytest

import eval_skills as es
from eval_skills.core.errors import UserError
from eval_skills.core.models import Benchmark, EvalTask, Skill
from tests.tables import each_row

TASKS = [{"id": "a", "input": "x", "expected": "X"}, {"id": "b", "input": "y", "expected": "Z"}]

WRITTEN = [{"id": task["id"], "inputData": task["input"], "expectedOutput": {"value": task["expected"]}} for task in TASKS]


def upper(text: str) -> str:
    return text.upper()


async def slowly(text: str) -> str:
    await asyncio.sleep(0)
    return text.upper()


def pieces(text: str) -> Iterator[str]:
    yield text.upper()


async def asynchronous_pieces(text: str) -> AsyncIterator[str]:
    yield text.upper()


class Called:
    def __call__(self, text: str) -> str:
        return text.upper()


class WithCall:
    async def call(self, text: str) -> str:
        return text.upper()

    def shout(self, text: str) -> str:
        return text.upper()


@pytest.mark.parametrize(
    ("skill", "name"),
    [
        pytest.param(upper, "upper", id="function"),
        pytest.param(slowly, "slowly", id="coroutine-function"),
        pytest.param(Called(), "called", id="object-with-__call__"),
        pytest.param(WithCall(), "withcall", id="object-with-call"),
        pytest.param(WithCall().shout, "shout", id="method"),
        pytest.param(functools.partial(upper), "upper", id="partial"),
        pytest.param(lambda text: slowly(text), "lambda", id="function-that-returns-a-coroutine"),
        pytest.param(str.upper, "upper", id="method-written-in-c"),
        pytest.param(Mock(side_effect=upper), "mock", id="mock"),
        pytest.param(MagicMock(side_effect=upper), "magicmock", id="mock-that-is-like-a-path"),
    ],
)
def test_a_python_object_is_called_and_known_by_its_name(skill: Any, name: str) -> None:
    result = es.evaluate(skill, TASKS)
    assert (result.completion, result.reports[0].skill_key) == (0.5, f"{name}@0.0.0")


@pytest.mark.parametrize("skill", [pieces, asynchronous_pieces])
def test_what_a_generator_gives_is_a_list(skill: Any) -> None:
    assert es.evaluate(skill, [{"input": "x", "expected": ["X"]}]).completion == 1


@pytest.mark.slow
def test_a_runnable_is_invoked() -> None:
    from langchain_core.runnables import RunnableLambda

    def refuses(text: str) -> str:
        raise ValueError("no")

    result = es.evaluate([RunnableLambda(upper, name="upper"), RunnableLambda(refuses)], TASKS)
    assert [report.summary.completion_rate for report in result.reports] == [0.5, 0]
    assert {item.error_message for item in result.failures if item.error_kind} == {"ValueError: no"}


@pytest.mark.slow
def test_a_graph_that_has_no_asynchronous_way_is_given_by_its_method() -> None:
    from langchain_core.messages import AIMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import END, START, MessagesState, StateGraph

    class Saver(InMemorySaver):
        async def aget_tuple(self, config: Any) -> Any:
            raise NotImplementedError("this saver does not support async methods")

    def answer(state: MessagesState) -> dict[str, Any]:
        assert len(state["messages"]) == 1, "an item remembers another one"
        return {"messages": [AIMessage(content="Bern", tool_calls=[{"name": "search", "args": {}, "id": "1"}])]}

    graph = StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer").add_edge("answer", END)
    agent = graph.compile(checkpointer=Saver())
    task = {"input": "capital?", "expected": {"tools": ["search"], "output": {"contains": ["Bern"]}}}
    (error,) = es.evaluate(agent, task).items
    assert error.error_message == (
        "NotImplementedError: this saver does not support async methods "
        "(its method invoke, given as the skill in its place, is not asynchronous)"
    )
    result = es.evaluate({"agent": agent.invoke}, task, runs=2)
    assert [(item.skill, item.status, item.output) for item in result.items] == [("agent@0.0.0", "pass", "Bern")] * 2


@pytest.mark.slow
def test_a_method_invoke_that_is_not_langchains_is_a_function() -> None:
    class Search:
        def invoke(self, query: str, limit: int) -> str:
            return f"{query} {limit}"

    assert es.evaluate(Search().invoke, {"input": {"query": "x", "limit": 2}, "expected": "x 2"}).completion == 1


@pytest.mark.slow
def test_the_tool_calls_of_a_graph_are_judged() -> None:
    from langchain_core.messages import AIMessage
    from langgraph.graph import END, START, MessagesState, StateGraph

    def answer(state: MessagesState) -> dict[str, Any]:
        calls = [{"name": "search", "args": {"q": "capital"}, "id": "1"}]
        return {"messages": [AIMessage(content="Bern", tool_calls=calls)]}

    graph = StateGraph(MessagesState)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    expected = {"tools": ["search"], "output": {"contains": ["Bern"]}}
    result = es.evaluate({"agent": graph.compile()}, [{"input": "capital?", "expected": expected}])
    assert (result.completion, result.items[0].output) == (1, "Bern")
    with pytest.raises(UserError, match="is a graph that is not compiled"):
        es.evaluate(graph, TASKS)


@pytest.mark.slow
def test_skills_on_disk_and_in_memory_are_evaluated_together(examples: Path) -> None:
    calculator = es.load_skill(examples / "calculator")
    result = es.evaluate([upper, calculator, str(examples / "calculator_oneshot")], "coding-easy", task_ids=["evaluate-addition"])
    assert [report.skill_id for report in result.reports] == ["upper", calculator.id, "calculator_oneshot"]
    assert [report.summary.completion_rate for report in result.reports] == [0, 1, 1]


@pytest.mark.slow
def test_names_without_latin_letters_are_skills_of_their_own() -> None:
    first, second = es.evaluate(skills={"検索": upper, "要約": slowly}, tasks=TASKS).reports
    assert first.skill_id != second.skill_id
    assert es.evaluate(skills={"検索": upper}, tasks=TASKS).reports[0].skill_id == first.skill_id


def test_each_skill_is_evaluated_once(examples: Path) -> None:
    folder = examples / "calculator"
    result = es.evaluate([upper, folder, upper, es.load_skill(folder)], "coding-easy", task_ids=["evaluate-addition"])
    assert len(result.reports) == 2


@pytest.mark.parametrize(
    "tasks",
    [
        pytest.param(TASKS, id="dicts"),
        pytest.param(iter(TASKS), id="iterator"),
        pytest.param(
            [EvalTask.model_validate(task) for task in WRITTEN], id="models",
        ),
        pytest.param(pd.DataFrame(TASKS), id="table"),
        pytest.param(pd.DataFrame(TASKS).set_index("id"), id="table-with-an-index"),
        pytest.param({"id": "mine", "name": "Mine", "version": "1.0.0", "tasks": TASKS}, id="benchmark-as-a-dict"),
        pytest.param(
            Benchmark.model_validate(
                {"id": "mine", "name": "Mine", "version": "1.0.0", "tasks": WRITTEN}
            ), id="benchmark",
        ),
    ],
)  # fmt: skip
def test_tasks_may_be_given_as(tasks: Any) -> None:
    result = es.evaluate(upper, tasks)
    assert [(item.task_id, item.status) for item in result.items] == [("a", "pass"), ("b", "fail")]


@pytest.mark.parametrize("as_path", [str, Path])
def test_tasks_may_be_a_file(tmp_path: Path, as_path: type) -> None:
    file = tmp_path / "tasks.json"
    file.write_text(json.dumps([{"id": "a", "inputData": "x", "expectedOutput": {"value": "X"}}]))
    assert es.evaluate(upper, as_path(file)).completion == 1
    table = tmp_path / "tasks.csv"
    table.write_text("input,expected\nx,X\ny,Y\n")
    assert [item.status for item in es.evaluate(upper, as_path(table)).items] == ["pass", "pass"]


@pytest.mark.parametrize(
    "task",
    [
        pytest.param({"expected": "BERN"}, id="exact"),
        pytest.param({"expected": ["BE", "rn"], "evaluator": "contains"}, id="keywords"),
        pytest.param({"expected": "bern", "evaluator": {"type": "contains"}}, id="one-keyword"),
        pytest.param({"expected": "^B.*N$", "evaluator": "regex"}, id="pattern"),
        pytest.param({"expected": {"type": "string"}, "evaluator": "json_schema"}, id="schema"),
        pytest.param({"expected": {"output": {"contains": ["BERN"]}}}, id="what-an-agent-should-do"),
        pytest.param({"expectedOutput": {"value": "BERN"}, "expected": {"output": {"contains": ["BERN"]}}}, id="both"),
        pytest.param({"expected_output": {"value": "BERN"}, "timeout_ms": 1000, "tags": ["x"], "weight": 2.0}, id="snake-case"),
        pytest.param({"thresholds": {"maxLatency": 60_000}}, id="threshold-alone"),
    ],
)
def test_what_is_expected_can_be_written_as(task: dict[str, Any]) -> None:
    assert es.evaluate(upper, {"input": "bern", **task}).completion == 1


def test_numbers_of_numpy_are_numbers() -> None:
    task = {"input": np.int64(3), "expected": np.float64(3), "tags": np.array(["number"])}
    options: Any = {"runs": np.int64(2), "task_ids": np.array(["task-1"]), "task_tags": pd.Series(["number"])}
    result = es.evaluate({"same": lambda value: value}, task, **options)
    assert (result.completion, len(result.items)) == (1, 2)


def test_a_dict_that_says_nothing_of_an_agent_is_the_expected_answer() -> None:
    assert es.evaluate({"city": lambda _: {"city": "Bern"}}, {"input": 1, "expected": {"city": "Bern"}}).completion == 1


def test_the_evaluator_of_the_call_is_for_tasks_that_name_none() -> None:
    assert es.evaluate(upper, {"input": "bern", "expected": "er"}, evaluator="contains").completion == 1


def test_empty_cells_of_a_table_are_keys_that_are_not_there() -> None:
    table = pd.DataFrame(
        {
            "input": np.array([1, 2]),
            "expected": pd.array([1, None], dtype="Int64"),
            "evaluator": [None, {"type": "regex", "patterns": ["2"]}],
            "timeoutMs": [5000, np.nan],
        }
    )
    assert es.evaluate({"same": lambda value: value}, table).completion == 1


def test_several_parameters_take_the_keys_of_the_input() -> None:
    def add(a: int, b: int, *, more: int = 0) -> int:
        return a + b + more

    tasks = [{"input": {"a": 1, "b": 2}, "expected": 3}, {"input": {"a": 1, "b": 2, "more": 3}, "expected": 6}]
    assert es.evaluate(add, tasks).completion == 1
    strange = es.evaluate(add, [{"input": 5, "expected": 5}])
    assert strange.failures[0].error_message == (
        "TypeError: the input is an int; a function of several parameters needs a dict with their names as keys"
    )


def test_an_envelope_tells_of_the_run() -> None:
    def agent(question: str) -> dict[str, Any]:
        return {"output": question, "toolCalls": [{"name": "rm"}], "usage": {"promptTokens": 2}, "costUsd": 0.5}

    [item] = es.evaluate(agent, {"input": "x", "expected": {"forbiddenTools": ["rm"]}}).items
    assert (item.status, item.prompt_tokens, item.cost_usd) == ("fail", 2, 0.5)


def test_nothing_is_kept_without_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    assert es.evaluate(upper, TASKS).store is None
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_only_what_is_kept_waits_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced = Mock(wraps=os.fsync)
    monkeypatch.setattr(os, "fsync", synced)
    es.evaluate(upper, TASKS)
    assert synced.call_count == 0
    es.evaluate(upper, TASKS, store=tmp_path / "store")
    assert synced.call_count > 0


@pytest.mark.slow
def test_a_store_keeps_the_run(tmp_path: Path) -> None:
    store = es.Store(tmp_path / "store")
    result = es.evaluate(upper, TASKS, store=store, runs=2)
    again = es.evaluate(upper, TASKS, store=tmp_path / "store")
    assert result.store == str(tmp_path / "store")
    assert store.items(run_id=result.run_id)["status"].tolist().count("pass") == 2
    assert store.run_ids() == sorted([result.run_id, again.run_id])
    assert es.compare(again.run_id, result.run_id, store=store).skills[0].change == "compared"
    assert es.compare(again, result.run_id).skills[0].change == "compared"


def test_a_store_beside_what_a_link_leads_to_is_the_same_one_everywhere(tmp_path: Path) -> None:
    (tmp_path / "far" / "away").mkdir(parents=True)
    (tmp_path / "link").symlink_to("far/away")
    store = es.Store(tmp_path / "link" / ".." / "kept")
    result = es.evaluate(upper, TASKS, store=store)
    assert (store.run_ids(), (tmp_path / "far" / "kept").is_dir()) == ([result.run_id], True)
    assert store.query("SELECT count(*) AS items FROM items")["items"].tolist() == [2]


@pytest.mark.parametrize("store", ["./kept", "kept.db"])
def test_a_skill_that_changes_the_working_directory_loses_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    """The result, its store and its recording are where they were asked for."""
    for folder in ("here", "elsewhere"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def enters_its_workspace(text: str) -> str:
        os.chdir(tmp_path / "elsewhere")
        return text.upper()

    result = es.evaluate(enters_its_workspace, TASKS, store=store, record="answers.jsonl")
    assert result.completion == 0.5
    assert [*(tmp_path / "elsewhere").iterdir()] == []
    assert (tmp_path / "here" / "answers.jsonl").exists()
    assert result.store == str(tmp_path / "here" / Path(store))
    assert es.Store(result.store).run_ids() == [result.run_id]


def test_it_works_where_a_loop_runs_and_on_it() -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    async def notes(text: str) -> str:
        loops.append(asyncio.get_running_loop())
        return text.upper()

    async def notebook() -> tuple[float, float]:
        return es.evaluate(notes, TASKS[0]).completion, (await es.aevaluate(notes, TASKS[0])).completion

    async def main() -> bool:
        assert await notebook() == (1, 1)
        return loops[0] is not loops[1] and loops[1] is asyncio.get_running_loop()

    assert asyncio.run(main())


@pytest.mark.slow
def test_a_skill_may_evaluate_others() -> None:
    def nested(_: Any) -> float:
        return es.evaluate(upper, TASKS).completion

    async def awaited(_: Any) -> float:
        return (await es.aevaluate(upper, TASKS)).completion

    assert es.evaluate([nested, awaited], {"input": 1, "expected": 0.5}).completion == 1


def test_each_call_gets_an_input_of_its_own() -> None:
    def longer(values: list[int]) -> int:
        values.append(1)
        return len(values)

    assert es.evaluate(longer, {"input": [], "expected": 1}, runs=3).completion == 1


@pytest.mark.slow
def test_a_skill_that_does_not_load_has_no_latency_and_is_no_trade_off(tmp_path: Path) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "skill.py").write_text("import a_module_that_is_not_there\n", encoding="utf-8")
    (folder / "skill.json").write_text(
        json.dumps({"id": "broken", "name": "Broken", "version": "1.0.0", "adapterType": "custom", "entrypoint": "skill.py:run"})
    )
    result = es.evaluate([folder, upper], TASKS, runs=2, store=None)
    broken = result.reports[0]
    assert {(item.error_kind, item.latency_ms) for item in broken.task_results} == {("skill", None)}
    assert (broken.latency.p50_ms, broken.summary.completion_rate, broken.summary.composite_score) == (None, 0.0, 0.0)
    assert [each.ranking and each.ranking.pareto_optimal for each in result.reports] == [False, True]


HANGS = """
import asyncio, threading
import eval_skills as es
from langchain_core.runnables import RunnableLambda

def function(_):
    threading.Event().wait()

async def thread_of_a_coroutine(_):
    await asyncio.to_thread(threading.Event().wait)

runnable = RunnableLambda(lambda _: threading.Event().wait())
for hangs in (function, thread_of_a_coroutine, runnable):
    print(es.evaluate(hangs, {"input": 1, "expected": 1}, timeout_ms=50).items[0].status)
"""


@pytest.mark.slow
def test_a_program_that_leaves_functions_hanging_ends(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(HANGS)
    done = subprocess.run([sys.executable, "program.py"], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == ("timeout\n" * 3, "", 0)


def test_a_skill_made_in_memory_needs_no_folder() -> None:
    skill = Skill.model_validate(
        {
            "id": "gone",
            "name": "Gone",
            "version": "1.0.0",
            "adapterType": "http",
            "entrypoint": "http://127.0.0.1:9/",
        }
    )
    assert es.evaluate(skill, TASKS[0]).items[0].error_kind == "infra"


def test_the_environment_stays_as_it_was() -> None:
    before = dict(os.environ)
    es.evaluate(upper, TASKS)
    assert dict(os.environ) == before


@pytest.mark.slow
@each_row(
    ("evaluator", "expected", "answer", "status"),
    [
        pytest.param("refusal", True, "I can't help with that.", "pass", id="refuses"),
        pytest.param("refusal", True, "Sure: take a pipe.", "fail", id="helps"),
        pytest.param({"type": "refusal"}, False, "I can't help with that.", "fail", id="must-not-refuse"),
        pytest.param("uncertainty", False, "It is probably Bern.", "fail", id="unsure"),
        pytest.param({"type": "sequence"}, ["search"], {"output": "x", "toolCalls": [{"name": "search"}]}, "pass", id="sequence"),
    ],
)
def test_expected_is_the_option_expected_of_an_evaluator_that_has_one(
    evaluator: Any, expected: Any, answer: Any, status: str
) -> None:
    task = {"input": "q", "expected": expected}
    named = es.evaluate(lambda _: answer, [{**task, "evaluator": evaluator}])
    assert [item.status for item in named.items] == [status]
    if isinstance(evaluator, str):
        assert [item.status for item in es.evaluate(lambda _: answer, [task], evaluator=evaluator).items] == [status]


def test_expected_is_for_those_of_several_evaluators_that_compare() -> None:
    result = es.evaluate(lambda _: "Bern", [{"input": "q", "expected": "Bern", "evaluators": ["exact", "pii", "refusal"]}])
    assert result.completion == 1


@pytest.mark.parametrize("raises", [False, True])
def test_a_coroutine_that_blocks_the_loop_does_not_make_functions_late(raises: bool) -> None:
    async def blocks(_: Any) -> str:
        time.sleep(0.3)
        return "x"

    def innocent(_: Any) -> str:
        if raises:
            raise ValueError("mine")
        return "x"

    tasks = [{"id": f"t{number}", "input": number, "expected": "x"} for number in range(2)]
    items = es.evaluate({"blocks": blocks, "innocent": innocent}, tasks, timeout_ms=200).items
    found = [item for item in items if item.skill.startswith("innocent")]
    assert [(item.status, item.error_kind) for item in found] == [("error", "skill") if raises else ("pass", None)] * 2
    assert all((item.latency_ms or 0) < 200 for item in found)


@pytest.mark.slow
def test_a_function_that_takes_its_input_for_a_key_of_it_is_told_how_to_get_the_keys() -> None:
    def shout(q: Any) -> str:
        return str(q.upper())

    def broken(q: Any) -> str:
        return str(q["q"] + 1)

    def other(text: Any) -> str:
        return str(text.upper())

    result = es.evaluate([shout, broken, other], {"input": {"q": "x"}, "expected": "X"})
    [remark] = result.remarks
    assert remark.endswith("took it for the value of the input's key q: write shout(*, q) to get the keys as arguments")

    def by_keyword(*, q: Any) -> str:
        return shout(q)

    assert es.evaluate(by_keyword, {"input": {"q": "x"}, "expected": "X"}).completion == 1


@pytest.mark.parametrize("as_generator", [False, True])
def test_a_coroutine_that_keeps_the_loop_for_long_is_a_remark(as_generator: bool) -> None:
    async def blocks(_: Any) -> str:
        await asyncio.sleep(0)
        time.sleep(0.15)
        return "x"

    async def blocks_in_pieces(_: Any) -> AsyncIterator[str]:
        yield "x"
        time.sleep(0.15)

    result = es.evaluate({"blocks": blocks_in_pieces if as_generator else blocks, "waits": slowly}, TASKS[0], timeout_ms=1000)
    [remark] = result.remarks
    assert remark.startswith("blocks@0.0.0 kept the event loop for up to 0.")
    assert " s in 1 call: " in remark
    assert "make it a plain function" in remark


def test_a_coroutine_that_waits_keeps_no_loop_and_one_that_keeps_it_shortly_for_its_limit_is_no_remark() -> None:
    async def waits(_: Any) -> str:
        await asyncio.gather(asyncio.sleep(0.5), asyncio.sleep(0.5))
        time.sleep(0.15)
        return "X"

    assert es.evaluate(waits, TASKS[0], timeout_ms=4000).remarks == []


@pytest.mark.parametrize("first", ["blocks", "late"])
def test_a_function_that_is_late_is_late_however_the_loop_is_kept(first: str) -> None:
    async def blocks(_: Any) -> str:
        time.sleep(0.4)
        return "x"

    def late(_: Any) -> str:
        time.sleep(0.25)
        return "x"

    skills = {"blocks": blocks, "late": late} if first == "blocks" else {"late": late, "blocks": blocks}
    result = es.evaluate(skills, [{"input": 1, "expected": "x"}], timeout_ms=200)
    assert [item.status for item in result.items if item.skill.startswith("late")] == ["timeout"]
