"""What a night says of a suite that a deployment was to evaluate, where the server does not know what it is asked for."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from prefect.client.schemas.objects import FlowRun, State
from prefect.exceptions import ObjectNotFound
from prefect.states import Running, Scheduled

from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.nightly.execution import Asked
from eval_skills.flows import suites

ASKED = Asked(EvaluateRequest(), "evaluate/gpu")


def unknown(*_: Any, **__: Any) -> None:
    raise ObjectNotFound(Exception())


def test_a_deployment_that_is_not_there_is_a_failure_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suites, "run_deployment", unknown)
    ((problem,),) = [each.problems for each in suites.evaluate_all([ASKED], timeout_s=1)]
    assert problem.startswith(
        "deployment evaluate/gpu could not be started: the Prefect server has no such deployment; correct via"
    )


def test_a_flow_run_that_was_deleted_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suites, "run_deployment", lambda *_, **__: FlowRun(flow_id=uuid4(), name="brave-owl"))
    monkeypatch.setattr(suites, "_awaited", unknown)
    (ended,) = suites.evaluate_all([ASKED], timeout_s=1)
    assert ended.problems == ["deployment evaluate/gpu: the Prefect server does not know its flow run brave-owl any more"]


def test_a_deployment_is_told_what_is_asked_and_nothing_that_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Said as well, a default would be an option that a run which is resumed did not begin with."""
    given: dict[str, Any] = {}

    def asked(*_: Any, **more: Any) -> None:
        given.update(more)
        unknown()

    monkeypatch.setattr(suites, "run_deployment", asked)
    request = EvaluateRequest(resume="20260101T000000Z-000a", skills=["s"], runs=3)
    suites.evaluate_all([Asked(request, "evaluate/gpu")], timeout_s=1)
    assert given["parameters"]["request"] == {"resume": "20260101T000000Z-000a", "skills": ["s"], "runs": 3}


class Server:
    """A Prefect server whose one flow run is in these states, one after the other; the last one stays."""

    def __init__(self, *states: State[Any]) -> None:
        self._states = list(states)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None: ...

    def read_flow_run(self, _: object) -> FlowRun:
        state = self._states.pop(0) if len(self._states) > 1 else self._states[0]
        return FlowRun(flow_id=uuid4(), name="brave-owl", state=state)


@pytest.mark.parametrize(
    ("states", "told", "problem"),
    [
        ([Scheduled()], True, "deployment evaluate/gpu did not begin in time; its flow run is brave-owl"),
        ([Scheduled(), Running()], True, "deployment evaluate/gpu did not end in time; its flow run is brave-owl"),
        ([Running()], False, "deployment evaluate/gpu did not end in time; its flow run is brave-owl"),
    ],
    ids=["never-begun", "begun-late", "runs"],
)
def test_a_deployment_that_has_not_begun_is_told_of_long_before_the_time_limit(
    monkeypatch: pytest.MonkeyPatch, states: list[State[Any]], told: bool, problem: str
) -> None:
    said: list[str] = []
    monkeypatch.setattr(suites, "run_deployment", lambda *_, **__: FlowRun(flow_id=uuid4(), name="brave-owl"))
    monkeypatch.setattr(suites, "get_client", lambda **_: Server(*states))
    monkeypatch.setattr(suites, "NOT_BEGUN_S", 0.0)
    monkeypatch.setattr(suites, "POLL_PERIOD_S", 0.01)
    monkeypatch.setattr(suites, "_tell", said.append)
    (ended,) = suites.evaluate_all([ASKED], timeout_s=0.1)
    assert ended.problems == [problem]
    assert [line[:64] for line in said] == ["deployment evaluate/gpu has not begun its flow run brave-owl for"] * told
