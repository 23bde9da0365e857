"""What a flow run is asked to do survives JSON, and explains itself in a form."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from prefect.utilities.callables import parameter_schema
from pydantic import ValidationError

from eval_skills import flows
from eval_skills.core.config.options import FlowOptions
from eval_skills.core.models import Weights
from eval_skills.engine.definition.request import EvaluateRequest, PipelineRequest
from tests.tables import each_row

REQUESTS = [
    pytest.param(EvaluateRequest(), id="evaluate-defaults"),
    pytest.param(PipelineRequest(), id="pipeline-defaults"),
    pytest.param(
        EvaluateRequest(
            skills=["a", "b"],
            task_tags=["math"],
            runs=3,
            weights=Weights(tool_accuracy=0.5),
            tool_categories={"search": ["google"]},
            tool_names="normalised",
            format=[],
            resume="latest",
            retry_errors=True,
            origin="replay",
            provenance={"commit": "abc", "period": {"every": "day"}},
            at=datetime(2025, 3, 1, tzinfo=UTC),
        ),
        id="evaluate-everything",
    ),
    pytest.param(PipelineRequest(top_k=2, min_completion=0.9, adapter="http", tags=["x"]), id="pipeline-filters"),
]


@pytest.mark.parametrize("request_", REQUESTS)
@pytest.mark.parametrize("by_alias", [True, False], ids=["camelCase", "snake_case"])
def test_json_and_back_is_the_same_request(request_: FlowOptions, by_alias: bool) -> None:
    text = json.dumps(request_.model_dump(mode="json", by_alias=by_alias))
    assert type(request_).model_validate(json.loads(text)) == request_


@pytest.mark.parametrize("request_", REQUESTS)
def test_prefect_sends_and_reads_the_parameters(request_: FlowOptions) -> None:
    flow: Any = flows.pipeline if isinstance(request_, PipelineRequest) else flows.evaluate
    sent = json.loads(json.dumps(flow.serialize_parameters({"request": request_})))
    assert flow.validate_parameters(sent)["request"] == request_


@pytest.mark.parametrize("flow", ["evaluate", "pipeline"])
def test_every_field_of_the_form_in_the_prefect_ui_has_a_description(flow: str) -> None:
    schema = parameter_schema(getattr(flows, flow)).model_dump()
    assert list(schema["properties"]) == ["request"]
    nameless = [
        f"{model}.{field}"
        for model, definition in schema["definitions"].items()
        if model.endswith("Request")
        for field, described in definition["properties"].items()
        if not described.get("description")
    ]
    assert nameless == []


@each_row(
    ("field", "value"),
    [
        ("runs", 0),
        ("concurrency", 0),
        ("timeout_ms", 0),
        ("retries", -1),
        ("items_per_task", 0),
        ("min_completion", 1.1),
        ("runs", "3"),
        ("tool_names", "fuzzy"),
        ("benchmark", " "),
        ("origin", "somewhere"),
        ("at", "2025-03-01T00:00:00"),
    ],
)
def test_p40_a_value_out_of_range_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ValidationError, match="1 validation error"):
        EvaluateRequest.model_validate({field: value})


def test_p60_an_unknown_key_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(ValidationError, match="did you mean 'timeoutMs'"):
        EvaluateRequest.model_validate({"timeoutMS": 1})


def test_the_evaluation_inside_a_pipeline_writes_no_reports_and_says_only_what_was_said() -> None:
    inner = PipelineRequest(runs=5, format=["json"], min_completion=0.5).evaluation(["skill"])
    assert (inner.runs, inner.format, inner.skills) == (5, [], ["skill"])
    assert inner.model_fields_set == {"runs", "format", "skills"}
