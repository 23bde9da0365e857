"""What a night says of a suite that a deployment was to evaluate, where the server does not know what it is asked for."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from prefect.client.schemas.objects import FlowRun
from prefect.exceptions import ObjectNotFound

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
