"""Judged evaluators of trajectories inside LangSmith."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from eval_skills.scorers.trajectory import (
    TRAJECTORY_ACCURACY_PROMPT_WITH_REFERENCE,
    create_async_trajectory_llm_as_judge,
)
from tests.scorers.judging.judged_trajectories import MODEL, OUTPUTS, REFERENCE, evaluator, reply
from tests.scripted_model import ScriptedModel
from tests.warm_command import WarmCommand

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*parameter is in beta", "ignore:.*function .*evaluate.* is in beta"),
]


@pytest.fixture
def langsmith(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    pytest.importorskip("langsmith.evaluation")
    return pytest.importorskip("langsmith")


def examples(*outputs: dict[str, Any]) -> list[Any]:
    from langsmith.schemas import Example

    return [
        Example(id=uuid4(), dataset_id=UUID(int=1), inputs={"page": page}, outputs=each, created_at=datetime.now(UTC))
        for page, each in enumerate(outputs)
    ]


def test_a_local_evaluation_in_langsmith(model: ScriptedModel, langsmith: Any) -> None:
    model.otherwise = lambda asked: reply(0.75 if "<<<reference_outputs" in asked.prompt else 0.5, "as it says")
    judges = [
        evaluator(model, continuous=True, feedback_key="alone"),
        evaluator(model, continuous=True, feedback_key="beside", prompt=TRAJECTORY_ACCURACY_PROMPT_WITH_REFERENCE),
    ]
    client = langsmith.Client(api_url="http://127.0.0.1:9", api_key="none", auto_batch_tracing=False)
    data = examples({"messages": REFERENCE}, {"messages": REFERENCE})
    found = list(client.evaluate(lambda inputs: [*OUTPUTS], data=data, evaluators=judges, upload_results=False))
    for row in found:
        results = [(each.key, each.score, each.comment) for each in row["evaluation_results"]["results"]]
        assert results == [("alone", 0.5, "as it says"), ("beside", 0.75, "as it says")]


async def test_an_asynchronous_evaluator_of_one_run_in_langsmith(model: ScriptedModel, langsmith: Any) -> None:
    from langsmith.schemas import Run

    model.script(reply(False))
    judge = create_async_trajectory_llm_as_judge(model=MODEL, settings={"llm": {"apiBase": model.url}})
    now = datetime.now(UTC)
    run = Run(
        id=uuid4(), trace_id=uuid4(), name="agent", run_type="chain", start_time=now, inputs={}, outputs={"output": OUTPUTS}
    )
    found = await langsmith.evaluation.run_evaluator(judge).aevaluate_run(run, examples({"messages": REFERENCE})[0])
    assert (found.key, found.score, found.comment) == ("trajectory_accuracy", False, "straight on")


TEST_FILE = """
import pytest
from langsmith import testing

from eval_skills.scorers.trajectory import create_async_trajectory_llm_as_judge, create_trajectory_llm_as_judge

options = {"model": "openai:scripted", "settings": {"llm": {"apiBase": "URL"}}}


@pytest.mark.langsmith
def test_the_way_of_an_agent():
    testing.log_inputs({"q": "?"})
    assert create_trajectory_llm_as_judge(**options)(outputs=[{"role": "assistant", "content": "7"}])["score"]


@pytest.mark.langsmith
def test_the_way_of_another():
    import asyncio
    testing.log_inputs({"q": "?"})
    judge = create_async_trajectory_llm_as_judge(feedback_key="twin", **options)
    assert asyncio.run(judge(outputs=[{"role": "assistant", "content": "7"}]))["score"]


def test_after_them_that_is_not_marked():
    assert create_trajectory_llm_as_judge(**options)(outputs=[{"role": "assistant", "content": "7"}])["score"]
"""


@pytest.mark.slow
def test_a_marked_test_that_is_tracked_logs_its_feedback(
    model: ScriptedModel, langsmith: Any, tmp_path: Any, warm_command: WarmCommand
) -> None:
    from tests.scorers.trajectory.test_langsmith import langsmith_api, printed_by_marked_tests

    model.otherwise = reply()
    with langsmith_api() as (endpoint, feedback):
        text = TEST_FILE.replace("URL", model.url)
        printed = printed_by_marked_tests(warm_command, tmp_path, endpoint, tracking="true", text=text)
    assert "3 passed" in printed, printed
    logged = [(each["key"], each["score"], each["comment"]) for each in feedback if each["key"] != "pass"]
    assert sorted(logged) == [("trajectory_accuracy", 1, "straight on"), ("twin", 1, "straight on")]
