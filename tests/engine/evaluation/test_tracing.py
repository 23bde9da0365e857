"""A run as a trace: what is sent, what is not, and that nothing depends on who receives it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.config import LlmSettings
from eval_skills.core.telemetry import spans
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.resume import resumed_plan
from tests.adapters.mcp_by_hand import Told, serving
from tests.otlp_receiver import Received, Receiver, values_of
from tests.scripted_model import ScriptedModel

if TYPE_CHECKING:
    from tests.engine.evaluations import MakePlan

Begin = Callable[[str], None]
ASKED = {"judgePrompt": "Is it right?"}
SECRET = "s3cret-of-the-skill"


@pytest.fixture
def receiver(otlp: Begin) -> Iterator[Receiver]:
    with Receiver() as receiver:
        otlp(receiver.url)
        yield receiver


@pytest.fixture
def http_plan(make_plan_of: MakePlan, write_skill: Callable[..., Path], receiver: Receiver) -> MakePlan:
    """A plan to evaluate a skill that the receiver plays."""
    skill = write_skill("web", adapterType="http", entrypoint=f"{receiver.url}/skill", adapterConfig={})

    def make(*whats: str, **fields: Any) -> Any:
        return make_plan_of(*whats, skills=[str(skill)], timeout_ms=120_000, **fields)

    return make


@pytest.mark.slow
def test_a_run_is_one_trace_that_the_skill_s_own_spans_join(http_plan: MakePlan, receiver: Receiver) -> None:
    summary = evaluate_in_process(http_plan("one", "two"))
    [run] = receiver.named("evaluate ")
    assert (run.parent, run.attributes["eval_skills.run.id"]) == ("", summary.run_id)
    assert {span.trace for span in receiver.spans} == {run.trace}
    items = receiver.children(run)
    assert sorted(item.attributes["test.case.name"] for item in items) == ["one", "two"]
    assert {item.name for item in items} == {"evaluate_item web"}
    [verdict] = {(name, frozenset(about.items())) for item in items for name, about in item.events}
    assert verdict == ("gen_ai.evaluation.result", frozenset(_VERDICT.items()))
    attempts = [attempt for item in items for attempt in receiver.children(item)]
    assert {attempt.name for attempt in attempts} == {"invoke_agent web"}
    assert {attempt.attributes["gen_ai.operation.name"] for attempt in attempts} == {"invoke_agent"}
    assert {call["traceparent"][:-3] for call in receiver.called} == {attempt.traceparent for attempt in attempts}
    [point] = receiver.points["eval_skills.items"]
    assert (point.as_int or point.as_double, values_of(point.attributes)["eval_skills.status"]) == (2, "pass")
    assert sum(point.count for point in receiver.points["gen_ai.client.operation.duration"]) == 2
    assert summary.remarks == []


_VERDICT = {
    "gen_ai.evaluation.name": "exact_match",
    "gen_ai.evaluation.score.value": 1.0,
    "gen_ai.evaluation.score.label": "pass",
}


@pytest.mark.slow
def test_each_attempt_has_a_span_and_a_resume_a_trace_of_its_own(
    http_plan: MakePlan, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("eval_skills.engine.evaluation.retries.delay_s", lambda attempt: 0.0)
    receiver.statuses = {"ok": [503], "other": [503, 503]}
    evaluate_in_process(http_plan("ok", "other", retries=1))
    items = {item.attributes["test.case.name"]: item for item in receiver.named("evaluate_item")}
    first, second = (receiver.children(items[name]) for name in ("ok", "other"))
    assert [(each.attributes["eval_skills.attempt.number"], each.error) for each in first] == [(1, True), (2, False)]
    assert first[0].attributes["error.type"] == "infra"
    assert items["ok"].attributes["eval_skills.item.attempts"] == 2
    assert not items["ok"].error
    assert [each.error for each in second] == [True, True]
    errors = receiver.points["eval_skills.errors"]
    assert {values_of(point.attributes)["error.type"] for point in errors} == {"infra"}
    receiver.spans.clear()
    request = EvaluateRequest(resume="latest", retry_errors=True, store=str(tmp_path / "store"), format=[])
    evaluate_in_process(resumed_plan(request))
    [run] = receiver.named("evaluate ")
    assert run.attributes["eval_skills.run.resumed"] is True
    assert [item.attributes["test.case.name"] for item in receiver.named("evaluate_item")] == ["other"]


def test_a_judge_s_request_is_a_span_of_the_attempt(
    http_plan: MakePlan, receiver: Receiver, model: ScriptedModel, write_tasks: Callable[..., str]
) -> None:
    llm = LlmSettings(model="openai/scripted", api_base=model.url, input_price=1.0, output_price=2.0)
    tasks = write_tasks("one", expectedOutput=ASKED)
    evaluate_in_process(http_plan(tasks=tasks, evaluator="llm_judge", llm=llm, no_judge_check=True))
    [attempt] = receiver.named("invoke_agent")
    [asked] = receiver.children(attempt)
    about = asked.attributes
    assert asked.name == "chat openai/scripted"
    assert (about["gen_ai.provider.name"], about["gen_ai.request.model"]) == ("openai", "scripted")
    assert (about["gen_ai.usage.input_tokens"], about["gen_ai.usage.output_tokens"]) == (100, 20)
    assert (about["gen_ai.response.finish_reasons"], about["server.address"]) == (["stop"], "127.0.0.1")
    assert about["eval_skills.cost_usd"] == pytest.approx(140e-6)
    [cost] = receiver.points["eval_skills.cost"]
    assert values_of(cost.attributes) == {"gen_ai.request.model": "scripted", "eval_skills.paid_for": "judge"}


@pytest.mark.slow
@pytest.mark.parametrize("captured", [False, True])
def test_contents_are_sent_only_where_they_are_asked_for_and_never_a_secret(
    make_plan_of: MakePlan,
    otlp: Begin,
    monkeypatch: pytest.MonkeyPatch,
    captured: bool,
    model: ScriptedModel,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("SKILL_TOKEN", SECRET)
    monkeypatch.setenv(spans.CAPTURE, "TRUE" if captured else "")
    llm = LlmSettings(model="openai/scripted", api_base=model.url)
    fields = {"secrets": ["SKILL_TOKEN"], "evaluator": "llm_judge", "llm": llm}
    with Receiver() as receiver:
        otlp(receiver.url)
        whats = {"told": f"says {SECRET}", "refused": "refuse"}
        tasks = [{"id": task, "inputData": {"what": what}, "expectedOutput": ASKED} for task, what in whats.items()]
        (tmp_path / "tasks.json").write_text(json.dumps(tasks))
        fields["tasks"] = str(tmp_path / "tasks.json")
        evaluate_in_process(make_plan_of(timeout_ms=120_000, no_judge_check=True, **fields))
        sent = b"".join(receiver.bodies)
        assert SECRET.encode() not in sent
        for content in (b"says ", b"cannot", b"as asked"):  # an answer, an error, and what the judge said
            assert (content in sent) is captured


def test_a_tool_of_an_mcp_server_learns_of_the_trace(
    make_plan_of: MakePlan, write_skill: Callable[..., Path], receiver: Receiver
) -> None:
    told = Told()
    with serving(told) as url:
        skill = write_skill("tool", adapterType="mcp", entrypoint=f"{url}/mcp", adapterConfig={"tool": "answer"})
        evaluate_in_process(make_plan_of("one", "two", skills=[str(skill)], timeout_ms=120_000))
    attempts = receiver.named("invoke_agent")
    assert {meta["traceparent"][:-3] for meta in told.metas} == {attempt.traceparent for attempt in attempts}
    assert len(told.metas) == 2


@pytest.mark.slow
def test_a_receiver_that_is_gone_is_one_line_and_changes_nothing(make_plan_of: MakePlan, otlp: Begin) -> None:
    with Receiver() as gone:
        address = gone.url
    otlp(address.replace("//", "//user:passw0rd@"))
    began = time.monotonic()
    summary = evaluate_in_process(make_plan_of("ok", timeout_ms=120_000))
    assert time.monotonic() - began < 20
    assert summary.reports[0].summary.completion_rate == 1
    [remark] = summary.remarks
    assert remark.startswith(f"traces or metrics could not be sent to {address}")
    assert "passw0rd" not in remark
    began = time.monotonic()
    again = evaluate_in_process(make_plan_of("ok", timeout_ms=120_000))  # nothing waits for it a second time
    assert time.monotonic() - began < 4
    assert again.remarks == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environ", "says"),
    [
        pytest.param({}, None, id="off"),
        pytest.param({"OTEL_TRACES_EXPORTER": "none"}, None, id="none"),
        pytest.param({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"}, None, id="disabled"),
        pytest.param({"OTEL_TRACES_EXPORTER": "zipkin"}, "OTEL_TRACES_EXPORTER=zipkin: no traces", id="exporter"),
        pytest.param(
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "OTEL_EXPORTER_OTLP_PROTOCOL=grpc: no traces",
            id="protocol",
        ),
        pytest.param(
            {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_BSP_MAX_QUEUE_SIZE": "-1"},
            "no traces or metrics are sent: ValueError",
            id="sdk",
        ),
    ],
)
def test_what_cannot_be_sent_as_asked_is_one_remark(
    make_plan_of: MakePlan, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], says: str | None
) -> None:
    monkeypatch.setattr(spans, "_running", None)
    monkeypatch.setattr(spans, "_refused", {})
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    first, second = (evaluate_in_process(make_plan_of("ok", timeout_ms=120_000)).remarks for _ in range(2))
    assert spans.telemetry() is None
    assert [remark.startswith(says or "?") for remark in first] == ([True] if says else [])
    assert second == []


def test_without_the_extra_a_remark_names_it(make_plan_of: MakePlan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "_running", None)
    monkeypatch.setattr(spans, "_refused", {})
    monkeypatch.setattr(spans, "EXTRA_MODULES", ("opentelemetry.exporter.of_nobody.proto",))
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    [remark] = evaluate_in_process(make_plan_of("ok", timeout_ms=120_000)).remarks
    assert remark.endswith("install the extra, pip install 'eval-skills[otel]'")


@pytest.mark.slow
def test_a_run_joins_the_trace_of_its_caller(make_plan_of: MakePlan, otlp: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    caller = Received("", "a" * 32, "b" * 16, "", {}, [], False, "")
    monkeypatch.setenv("TRACEPARENT", f"{caller.traceparent}-01")
    with Receiver() as receiver:
        otlp(receiver.url)
        evaluate_in_process(make_plan_of("ok", timeout_ms=120_000))
        [run] = receiver.named("evaluate ")
        assert (run.trace, run.parent) == (caller.trace, caller.id)
