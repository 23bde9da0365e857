"""What a flow run is asked to do survives JSON, and explains itself in a form."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from prefect.utilities.callables import parameter_schema
from pydantic import ValidationError

from eval_skills import flows
from eval_skills.core.config.options import FlowOptions
from eval_skills.core.errors import UsageError
from eval_skills.core.models import Weights
from eval_skills.engine.definition.request import EvaluateRequest, PipelineRequest, check_writable
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


NOBODY = 65534


@pytest.fixture
def as_nobody() -> Iterator[Path]:
    """A folder in which a user who is not root is about to write."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        was = os.geteuid()
        if was == 0:
            os.seteuid(NOBODY)
        try:
            yield Path(folder)
        finally:
            os.seteuid(was)


@pytest.mark.parametrize("closed", ["runs", "items", "items/date={today}", "reports/date={today}", "digests.jsonl"])
def test_what_somebody_else_closed_in_an_open_store_is_refused_before_the_run(as_nobody: Path, closed: str) -> None:
    store = as_nobody / "store"
    request = EvaluateRequest(store=str(store), output_dir=str(as_nobody / "reports"))
    place = store / closed.format(today=datetime.now(UTC).date().isoformat())
    place.parent.mkdir(parents=True)
    place.touch(0o444) if place.suffix else place.mkdir(0o555)
    with pytest.raises(UsageError, match=f"^--store {store}: results cannot be written to {place}: Permission denied; let this"):
        check_writable(request)
    place.chmod(0o755)
    check_writable(request)
    assert [each.name for each in place.rglob("*")] == []
