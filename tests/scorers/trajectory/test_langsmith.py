"""The evaluators inside LangSmith: local evaluations, and tests under its mark. No network outside this machine."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from eval_skills.scorers.trajectory import (
    create_async_trajectory_match_evaluator,
    create_graph_trajectory_match_evaluator,
    create_trajectory_match_evaluator,
)
from tests.warm_command import PROGRAM, WarmCommand

langsmith = pytest.importorskip("langsmith", reason="the extra langsmith is not installed: pip install 'eval-skills[langsmith]'")
evaluation = pytest.importorskip("langsmith.evaluation")  # langsmith imports it when it is first used, by a name of its own
from langsmith.schemas import Example, Run  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.*parameter is in beta", "ignore:.*function .*evaluate.* is in beta")

REFERENCE = [{"role": "user", "content": "?"}, {"role": "assistant", "tool_calls": [{"name": "search", "args": {"page": 0}}]}]
TEST_FILE = """
import pytest
from langsmith import testing

from eval_skills.scorers.trajectory import create_trajectory_match_evaluator

evaluator = create_trajectory_match_evaluator(trajectory_match_mode="superset")
REFERENCE = [{"role": "assistant", "tool_calls": [{"name": "search", "args": {}}]}]


@pytest.mark.langsmith
def test_the_way_of_an_agent():
    testing.log_inputs({"q": "?"})
    testing.log_outputs({"messages": []})
    testing.log_reference_outputs({"messages": REFERENCE})
    assert evaluator(outputs=[], reference_outputs=REFERENCE)["comment"] == "missing: search()"


@pytest.mark.langsmith
def test_that_fails():
    assert evaluator(outputs=[], reference_outputs=REFERENCE)["score"]


def test_after_them_that_is_not_marked():
    assert evaluator(outputs=REFERENCE, reference_outputs=REFERENCE)["score"]
"""


@pytest.fixture
def client() -> Any:
    """A client that could reach nobody."""
    return langsmith.Client(api_url="http://127.0.0.1:9", api_key="none", auto_batch_tracing=False)


@pytest.fixture(autouse=True)
def _nothing_is_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGSMITH_TRACING", "false")


def examples(*outputs: dict[str, Any]) -> list[Example]:
    """A data set in memory: the n-th question asks for page n."""
    return [
        Example(id=uuid4(), dataset_id=UUID(int=1), inputs={"page": page}, outputs=reference, created_at=datetime.now(UTC))
        for page, reference in enumerate(outputs)
    ]


def agent(inputs: dict[str, Any]) -> list[Any]:
    """Returns the messages alone, as agents often do; LangSmith wraps them."""
    return [HumanMessage("?"), AIMessage("", tool_calls=[{"id": "1", "name": "search", "args": {"page": inputs["page"]}}])]


def verdicts(rows: list[Any]) -> list[list[tuple[Any, ...]]]:
    """Per example, key, score, comment and recall of each evaluator."""
    ordered = sorted(rows, key=lambda row: row["example"].inputs["page"])
    return [
        [(each.key, each.score, each.comment, each.metadata["recall"]) for each in row["evaluation_results"]["results"]]
        for row in ordered
    ]


EXPECTED: list[list[tuple[Any, ...]]] = [
    [("trajectory_strict_match", True, None, 1.0), ("trajectory_superset_match", True, None, 1.0)],
    [
        ("trajectory_strict_match", False, "message 2: search: page expected 0, got 1", 0.0),
        ("trajectory_superset_match", False, "search: page expected 0, got 1", 0.0),
    ],
]


def test_a_local_evaluation(client: Any) -> None:
    evaluators = [create_trajectory_match_evaluator(trajectory_match_mode=mode) for mode in ("strict", "superset")]
    data = examples({"messages": REFERENCE}, {"messages": REFERENCE})
    found = client.evaluate(agent, data=data, evaluators=evaluators, upload_results=False)
    assert verdicts(list(found)) == EXPECTED


async def test_an_asynchronous_evaluator_of_one_run() -> None:
    # aevaluate itself posts to the API, whatever it is told of uploading; this is the part of it that calls evaluators
    evaluator = evaluation.run_evaluator(create_async_trajectory_match_evaluator())
    [example] = examples({"messages": REFERENCE})
    run = Run(
        id=uuid4(),
        trace_id=uuid4(),
        name="agent",
        run_type="chain",
        start_time=datetime.now(UTC),
        inputs={"page": 0},
        outputs={"output": agent({"page": 1})},
    )
    found = await evaluator.aevaluate_run(run, example)
    assert (found.key, found.score, found.comment) == EXPECTED[1][0][:3]


def test_a_local_evaluation_of_a_graph(client: Any) -> None:
    def visit(inputs: dict[str, Any]) -> dict[str, Any]:
        return {"steps": [["agent", "tools"][: inputs["page"] + 1]]}

    data = examples({"steps": [["agent"]]}, {"steps": [["agent"]]})
    found = client.evaluate(visit, data=data, evaluators=[create_graph_trajectory_match_evaluator()], upload_results=False)
    assert verdicts(list(found)) == [
        [("graph_trajectory_strict_match", True, None, 1.0)],
        [("graph_trajectory_strict_match", False, "turn 1: extra: tools", 1.0)],
    ]


@pytest.mark.parametrize("mode", ["strict", "unordered", "subset", "superset"])
@pytest.mark.parametrize("factory", [create_trajectory_match_evaluator, create_graph_trajectory_match_evaluator])
def test_an_agent_that_crashed_matches_nothing_whatever_the_mode(client: Any, factory: Any, mode: Any) -> None:
    def crash(inputs: dict[str, Any]) -> dict[str, Any]:
        raise RuntimeError("out of money")

    [row] = client.evaluate(
        crash,
        data=examples({"messages": [], "steps": []}),
        evaluators=[factory(trajectory_match_mode=mode)],
        upload_results=False,
        error_handling="log",
    )
    [found] = row["evaluation_results"]["results"]
    assert (found.key.endswith(f"trajectory_{mode}_match"), found.score) == (True, False)
    assert "out of money" in found.comment


async def test_a_crashed_run_matches_nothing_asynchronously() -> None:
    evaluator = create_async_trajectory_match_evaluator(trajectory_match_mode="subset")
    found = await evaluator(outputs={}, reference_outputs=REFERENCE, run=SimpleNamespace(error="broke"))
    assert (found["score"], found["comment"]) == (False, "the run ended in an error: broke")
    assert (await evaluator(outputs=[], reference_outputs=REFERENCE, run=SimpleNamespace(error=None)))["score"] is True


class LangSmithApi(BaseHTTPRequestHandler):
    """Says yes to everything and keeps the feedback."""

    protocol_version = "HTTP/1.1"
    feedback: list[dict[str, Any]]

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.command == "POST" and self.path == "/feedback":
            self.feedback.append(json.loads(body))
        now, some = "2026-01-01T00:00:00+00:00", str(UUID(int=1))
        ids = dict.fromkeys(("id", "tenant_id", "dataset_id", "reference_dataset_id"), some)
        moments = dict.fromkeys(("created_at", "modified_at", "start_time", "as_of"), now)
        thing = {**ids, **moments, "name": "x", "key": "x", "inputs": {}, "outputs": {}}
        answer: Any = [thing] if self.command == "GET" and "?" in self.path else thing
        if self.path == "/info":
            answer = {"version": "0", "batch_ingest_config": {"use_multipart_endpoint": False}}
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PATCH = do_PUT = _answer  # noqa: N815 - the names of http.server

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@contextmanager
def langsmith_api() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The address of a server that LangSmith's client can talk to, and the feedback that it got."""
    feedback: list[dict[str, Any]] = []
    handler = type("Handler", (LangSmithApi,), {"feedback": feedback})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", feedback
        finally:
            server.shutdown()
            serving.join()


PYTEST = "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"


def printed_by_marked_tests(warm_command: WarmCommand, folder: Path, endpoint: str, tracking: str, text: str = TEST_FILE) -> str:
    """What the tests of `text` print in a process of their own: LangSmith remembers its settings for a process's life."""
    file = folder / "test_agent.py"
    file.write_text(text, encoding="utf-8")
    foreign = ("LANGSMITH_", "LANGCHAIN_", "PYTEST_")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    settings = {"LANGSMITH_ENDPOINT": endpoint, "LANGSMITH_API_KEY": "none", "LANGSMITH_TRACING": "true"}
    options = ["-q", "-p", "no:cacheprovider", "--rootdir", str(folder), str(file)]
    environment = {**inherited, **settings, "LANGSMITH_TEST_TRACKING": tracking}
    _, printed, _ = warm_command.start([PROGRAM, PYTEST, *options], cwd=folder, environment=environment).output(300)
    return printed


@pytest.mark.slow
def test_a_marked_test_with_tracking_off(tmp_path: Path, warm_command: WarmCommand) -> None:
    printed = printed_by_marked_tests(warm_command, tmp_path, "http://127.0.0.1:9", tracking="false")
    assert "1 failed, 2 passed" in printed, printed
    assert "FAILED test_agent.py::test_that_fails" in printed


@pytest.mark.slow
def test_a_marked_test_that_is_tracked_logs_its_feedback(tmp_path: Path, warm_command: WarmCommand) -> None:
    with langsmith_api() as (endpoint, feedback):
        printed = printed_by_marked_tests(warm_command, tmp_path, endpoint, tracking="true")
    assert "1 failed, 2 passed" in printed, printed
    logged = [(each["key"], each["score"], each["comment"]) for each in feedback if each["key"] != "pass"]
    # the test without a mark has logged nothing
    assert logged == [("trajectory_superset_match", 0, "missing: search()")] * 2
