"""Results in other tools' formats: what they read, errors that are no wrong answers, and nothing made up."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.benchmarks.importers.importing import import_tasks
from eval_skills.core.errors import UsageError
from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting import ReportContext, render
from eval_skills.reporting.exports.mlflow import log_reports, metrics
from eval_skills.reporting.writing import FORMATS

MakeReport = Callable[..., SkillCompletionReport]
MakeItem = Callable[..., dict[str, Any]]

OF_OTHERS = [name for name, each in FORMATS.items() if each.renderer.startswith("exports.")]
OF_ONE = ["gaia", "inspect", "openai-evals"]
HOSTILE = "=cmd()\n</script>\ud800 ünï"


@pytest.fixture
def report(make_report: MakeReport, make_item: MakeItem) -> SkillCompletionReport:
    """A pass with calls and tokens, a failure, an error without an answer, and a second run of the first task."""
    calls = [{"name": "search", "args": {"q": "Bern"}, "id": "c1", "result": {"hits": 1}}, {"name": "stop", "args": "x"}]
    expected = {"type": "exact", "value": "Bern"}
    items = [
        make_item(
            status="pass", score=1.0, input={"q": "capital?"}, expected=expected, output={"result": "Bern"}, toolCalls=calls,
            promptTokens=3, costUsd=0.5, dimensions={"tool_accuracy": 0.5},
            messages=[{"role": "user", "content": "capital?"}, {"role": "assistant", "content": None}],
        ),
        make_item("t2", output=HOSTILE, expected="x", reasons=[{"code": "OUTPUT_MISMATCH", "message": "not x"}], latencyMs=None),
        make_item("t3", status="error", score=None, errorKind="infra", errorMessage="gone", latencyMs=None),
        make_item(runIndex=1, output="Basel"),
    ]  # fmt: skip
    return make_report("cities", taskResults=items)


def lines(text: str | bytes) -> list[dict[str, Any]]:
    assert isinstance(text, str)
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("name", OF_OTHERS)
def test_a_report_of_figures_only_is_refused(name: str, make_report: MakeReport, context: ReportContext) -> None:
    with pytest.raises(UsageError, match="this report holds figures only"):
        render(name, [make_report()], context)


@pytest.mark.parametrize("name", OF_ONE)
def test_several_skills_are_refused_where_the_format_holds_one(
    name: str, report: SkillCompletionReport, context: ReportContext
) -> None:
    with pytest.raises(UsageError, match=r"there are 2: cities@1\.0\.0, cities@1\.0\.0; choose one with --skill"):
        render(name, [report, report], context)


@pytest.mark.parametrize("name", OF_OTHERS)
def test_every_format_is_utf_8_whatever_a_skill_answers(name: str, report: SkillCompletionReport, context: ReportContext) -> None:
    text = render(name, [report], context)
    assert isinstance(text, str)
    assert "ünï" in text.encode().decode()


def test_a_submission_has_the_first_answer_of_each_task(report: SkillCompletionReport, context: ReportContext) -> None:
    found = lines(render("gaia", [report], context))
    assert [(line["task_id"], line["model_answer"][:4]) for line in found] == [("t1", "Bern"), ("t2", "=cmd"), ("t3", "")]
    assert [line.get("reasoning_trace") for line in found] == ["user: capital?\nassistant: ", None, None]


def test_a_log_of_inspect_is_read_back_with_the_same_verdicts(
    report: SkillCompletionReport, context: ReportContext, tmp_path: Path
) -> None:
    (tmp_path / "log.json").write_text(str(render("inspect", [report], context)))
    log = json.loads((tmp_path / "log.json").read_text())
    assert [(s["id"], s["epoch"], [v["value"] for v in s["scores"].values()]) for s in log["samples"]] == [
        ("t1", 1, ["C"]), ("t2", 1, ["I"]), ("t3", 1, []), ("t1", 2, ["I"]),
    ]  # fmt: skip
    assert log["samples"][2]["error"]["message"] == "infra: gone"
    [figures] = log["results"]["scores"]
    # What Inspect 0.3.285 gives for these verdicts: the epochs of t1 are one sample, and t3 is none.
    assert {name: each["value"] for name, each in figures["metrics"].items()} == pytest.approx({"accuracy": 0.25, "stderr": 0.25})
    assert (figures["scored_samples"], figures["unscored_samples"]) == (2, 0)
    assert [call["function"] for m in log["samples"][0]["messages"] for call in m.get("tool_calls", ())] == ["search", "stop"]
    runs = import_tasks(tmp_path / "log.json").runs
    assert [(run["taskId"], run["runIndex"], run["output"]["result"]) for run in runs if "error" not in run] == [
        ("t1", 0, True), ("t2", 0, False), ("t1", 1, False),
    ]  # fmt: skip


def test_promptfoo_tells_errors_from_failed_assertions(report: SkillCompletionReport, context: ReportContext) -> None:
    found = json.loads(str(render("promptfoo", [report], context)))["results"]
    assert {name: found["stats"][name] for name in ("successes", "failures", "errors")} == {
        "successes": 1, "failures": 2, "errors": 1,
    }  # fmt: skip
    assert [(each["testIdx"], each["success"], each["failureReason"]) for each in found["results"]] == [
        (0, True, 0), (1, False, 1), (2, False, 2), (3, False, 1),
    ]  # fmt: skip
    assert [each.get("cost") for each in found["results"]] == [0.5, None, None, None]
    assert found["results"][0]["vars"] == {"q": "capital?"}
    assert found["results"][2]["error"] == "infra: gone"


def test_promptfoos_sums_leave_out_tokens_that_nobody_reports(
    report: SkillCompletionReport, make_report: MakeReport, make_item: MakeItem, context: ReportContext
) -> None:
    unknown = make_report("silent", taskResults=[make_item(latencyMs=None)])
    found = json.loads(str(render("promptfoo", [report, unknown], context)))["results"]
    used = {each["provider"].partition("@")[0]: each["metrics"]["tokenUsage"] for each in found["prompts"]}
    assert used == {"cities": {"prompt": 3, "total": 3, "numRequests": 4}, "silent": {"numRequests": 1}}
    # needed by its types: PromptMetricsSchema.cost, .totalLatencyMs, and EvaluateStats.tokenUsage
    silent = next(each["metrics"] for each in found["prompts"] if each["provider"].startswith("silent"))
    assert (silent["cost"], silent["totalLatencyMs"]) == (0, 0)
    assert found["stats"]["tokenUsage"] == {"prompt": 3, "completion": 0, "total": 3, "cached": 0, "numRequests": 5}


def test_feedback_has_a_row_for_each_score_and_none_for_what_was_not_judged(
    report: SkillCompletionReport, make_report: MakeReport, make_item: MakeItem, context: ReportContext
) -> None:
    rows = list(csv.DictReader(io.StringIO(str(render("langsmith", [report], context)))))
    assert [(row["example_id"], row["key"], row["score"], row["value"]) for row in rows] == [
        ("t1", "passed", "1.0", "pass"), ("t1", "score", "1.0", "pass"), ("t1", "tool_accuracy", "0.5", "pass"),
        ("t2", "passed", "0.0", "fail"), ("t2", "score", "0.0", "fail"),
        ("t3", "passed", "", "error"),
        ("t1", "passed", "0.0", "fail"), ("t1", "score", "0.0", "fail"),
    ]  # fmt: skip
    assert (rows[0]["reference"], rows[3]["outputs"][:2], rows[3]["comment"]) == ("Bern", "'=", "not x")
    below = make_report(
        taskResults=[make_item(output=-5, expected=-2.5), make_item("t2", output=[-5], expected={"value": "-5-1"})]
    )
    rows = list(csv.DictReader(io.StringIO(str(render("langsmith", [below], context)))))[::2]
    assert [(row["outputs"], row["reference"]) for row in rows] == [("-5", "-2.5"), ("[-5]", "'-5-1")]


@pytest.fixture
def half_known(make_report: MakeReport, make_item: MakeItem) -> SkillCompletionReport:
    """An item that a judge could not judge, one that called a forbidden tool and died, and one that failed by both limits."""
    died = {"errorKind": "skill", "errorMessage": "gone", "reasons": [{"code": "FORBIDDEN_TOOL_CALLED", "message": "rm"}]}
    limits = [{"code": "COST_UNKNOWN", "message": "none"}, {"code": "LATENCY_ABOVE_MAX", "message": "slow"}]
    items = [
        make_item("open", status="error", score=None, errorKind="judge", output="Bern", dimensions={"tool_accuracy": 1.0}),
        make_item("died", toolCalls=[{"name": "rm", "error": "denied"}, {"name": "ls"}], **died),
        make_item("slow", output="Bern", score=1.0, reasons=limits),
    ]
    return make_report("cities", taskResults=items)


def test_a_dimension_of_an_item_that_was_not_judged_is_no_score(
    half_known: SkillCompletionReport, context: ReportContext
) -> None:
    rows = list(csv.DictReader(io.StringIO(str(render("langsmith", [half_known], context)))))
    assert [(row["key"], row["score"], row["value"]) for row in rows if row["example_id"] == "open"] == [("passed", "", "error")]


def test_no_answer_is_made_up_for_an_item_that_failed_without_one(
    half_known: SkillCompletionReport, context: ReportContext
) -> None:
    samples = {each["id"]: each for each in json.loads(str(render("inspect", [half_known], context)))["samples"]}
    assert (samples["died"]["output"]["choices"], samples["died"]["scores"]["eval_skills"]["value"]) == ([], "I")
    assert [message["role"] for message in samples["died"]["messages"]] == ["user", "assistant", "tool", "assistant"], "two calls"
    events = lines(render("openai-evals", [half_known], context))[1:-1]
    assert [event["type"] for event in events if event["sample_id"] == "died#1"] == ["match"]


def test_evalview_is_not_told_that_failed_calls_and_limits_went_well(
    half_known: SkillCompletionReport, context: ReportContext
) -> None:
    open_, died, slow = json.loads(str(render("evalview", [half_known], context)))
    assert [(step["success"], step["output"]) for step in died["trace"]["steps"]] == [(False, "denied"), (True, None)]
    passed = [[each["evaluations"][name]["passed"] for name in ("cost", "latency")] for each in (open_, died, slow)]
    assert passed == [[True, True], [True, True], [False, False]]


def test_a_record_of_openai_evals_has_no_match_for_an_error(
    report: SkillCompletionReport, make_report: MakeReport, make_item: MakeItem, context: ReportContext
) -> None:
    spec, *events, last = lines(render("openai-evals", [report], context))
    assert spec["spec"]["completion_fns"] == ["cities@1.0.0"]
    assert [(event["event_id"], event["sample_id"], event["type"]) for event in events] == [
        (0, "t1#1", "sampling"), (1, "t1#1", "match"), (2, "t2#1", "sampling"), (3, "t2#1", "match"), (4, "t3#1", "error"),
        (5, "t1#2", "sampling"), (6, "t1#2", "match"),
    ]  # fmt: skip
    third = pytest.approx(1 / 3)
    assert last == {"final_report": {"accuracy": third, "partial_score": third, "errors": 1}}, "as its matches say"
    outage = make_report(taskResults=[make_item(status="error", score=None, errorKind="infra")])
    *_, last = lines(render("openai-evals", [outage], context))
    assert last == {"final_report": {"accuracy": None, "partial_score": None, "errors": 1}}


def test_evalview_has_every_item_and_says_which_ended_in_an_error(report: SkillCompletionReport, context: ReportContext) -> None:
    found = json.loads(str(render("evalview", [report], context)))
    assert [(each["test_case"], each["passed"], each["score"]) for each in found] == [
        ("t1#1", True, 100.0), ("t2#1", False, 0.0), ("t3#1", False, 0.0), ("t1#2", False, 0.0),
    ]  # fmt: skip
    assert found[2]["evaluations"]["output_quality"]["rationale"] == "infra: gone"
    assert found[0]["evaluations"]["tool_accuracy"]["accuracy"] == 0.5
    assert [step["tool_name"] for step in found[0]["trace"]["steps"]] == ["search", "stop"]


def test_figures_that_are_not_known_are_no_metrics(report: SkillCompletionReport) -> None:
    found = metrics(report)
    assert found["completion_rate"] == 0.85
    assert found.keys().isdisjoint({"cost_usd", "pass_hat_k", "flake_rate"})


def test_sums_that_are_not_of_all_items_say_of_how_many_they_are_not(make_report: MakeReport, make_item: MakeItem) -> None:
    used = [make_item(promptTokens=3, completionTokens=4, costUsd=0.5), make_item("t2", promptTokens=3), make_item("t3")]
    part = metrics(make_report(taskResults=used, token_cost={"estimatedUSD": 0.5}))
    assert (part["tokens_unknown_items"], part["cost_unknown_items"]) == (2, 2)
    whole = metrics(make_report(taskResults=used[:1], token_cost={"estimatedUSD": 0.5}))
    assert whole.keys().isdisjoint({"tokens_unknown_items", "cost_unknown_items"})


@pytest.mark.slow
def test_mlflow_keeps_a_run_for_each_skill(
    report: SkillCompletionReport,
    make_report: MakeReport,
    context: ReportContext,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mlflow = pytest.importorskip("mlflow", reason="needs MLflow: pip install 'eval-skills[mlflow]'")
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    monkeypatch.chdir(tmp_path)  # artefacts lie below the working directory
    logged = log_reports([report, make_report("other")], context, experiment="cities", tracking_uri=uri)
    client = mlflow.MlflowClient(tracking_uri=uri)
    run = client.get_run(logged[0].mlflow_run_id)
    assert (run.data.tags["mlflow.runName"], run.data.metrics["completion_rate"]) == (logged[0].skill, 0.85)
    assert [each.path for each in client.list_artifacts(run.info.run_id)] == ["report.json"]
    with pytest.raises(UsageError, match=r"^MLflow at nonsense://x: "):
        log_reports([report], context, experiment="cities", tracking_uri="nonsense://x")


def test_without_mlflow_one_line_says_how_to_get_it(
    report: SkillCompletionReport, context: ReportContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(UsageError, match=r"pip install 'eval-skills\[mlflow\]'"):
        log_reports([report], context, experiment="x")


@pytest.fixture
def talk(make_report: MakeReport, make_item: MakeItem) -> SkillCompletionReport:
    """Two conversations: one whose first turn says nothing of calls, and one that ended in an error in its second turn."""
    bake, gone = [{"name": "oven"}], {"errorKind": "infra", "errorMessage": "gone"}
    told = {"input": {"turns": ["tea", "cake"]}}
    tea = {"turn": 1, "input": "tea", "output": "ok tea"}
    whole = [tea, {"turn": 2, "input": "cake", "output": "tea cake", "toolCalls": bake}]
    broken = [tea, {"turn": 2, "input": "cake", **gone}]
    items = [
        make_item(**told, status="pass", score=1.0, output="tea cake", turns=whole),
        make_item("t2", **told, status="error", score=None, turns=broken, **gone),
    ]
    return make_report("host", taskResults=items)


def test_a_log_of_inspect_has_conversations_turn_by_turn(
    talk: SkillCompletionReport, context: ReportContext, tmp_path: Path
) -> None:
    (tmp_path / "log.json").write_text(str(render("inspect", [talk], context)))
    whole, broken = json.loads((tmp_path / "log.json").read_text())["samples"]
    assert [(each["role"], each["content"], len(each.get("tool_calls", ()))) for each in whole["messages"]] == [
        ("user", "tea", 0), ("assistant", "ok tea", 0), ("user", "cake", 0), ("assistant", "", 1), ("assistant", "tea cake", 0),
    ]  # fmt: skip
    assert [each["content"] for each in whole["input"]] == ["tea", "cake"]
    assert [each["content"] for each in broken["messages"]] == ["tea", "ok tea", "cake"], "its second turn has no answer"
    assert len(import_tasks(tmp_path / "log.json").runs) == 2


def test_calls_of_turns_are_in_every_format_that_has_calls(talk: SkillCompletionReport, context: ReportContext) -> None:
    whole, broken = json.loads(str(render("evalview", [talk], context)))
    assert [step["tool_name"] for step in whole["trace"]["steps"]] == ["oven"]
    assert whole["evaluations"]["sequence_correctness"]["actual_sequence"] == ["oven"]
    assert broken["trace"]["steps"] == []
    only_whole = talk.task_results[1].model_copy(update={"tool_calls": talk.task_results[0].turns[1].tool_calls})  # type: ignore[index]
    [found] = json.loads(str(render("evalview", [talk.model_copy(update={"task_results": [only_whole]})], context)))
    assert [step["tool_name"] for step in found["trace"]["steps"]] == ["oven"], "known of the whole alone"


def test_a_record_of_openai_evals_has_a_sampling_for_each_turn(talk: SkillCompletionReport, context: ReportContext) -> None:
    _, *events, _ = lines(render("openai-evals", [talk], context))
    assert [(event["type"], event["data"].get("sampled")) for event in events] == [
        ("sampling", ["ok tea"]), ("sampling", ["tea cake"]), ("match", "tea cake"), ("sampling", ["ok tea"]), ("error", None),
    ]  # fmt: skip


def test_items_have_their_own_times(make_report: MakeReport, make_item: MakeItem, context: ReportContext) -> None:
    items = [
        make_item(startedAt="2026-11-21T10:00:00Z", latencyMs=1500),
        make_item("t2", startedAt="2026-11-21T10:00:05Z", latencyMs=None),
        make_item("t3", latencyMs=20),
    ]
    report = make_report(taskResults=items)
    log = json.loads(str(render("inspect", [report], context)))
    assert [(each.get("started_at"), each.get("completed_at")) for each in log["samples"]] == [
        ("2026-11-21T10:00:00+00:00", "2026-11-21T10:00:01.500000+00:00"), ("2026-11-21T10:00:05+00:00", None), (None, None),
    ]  # fmt: skip
    assert (log["stats"]["started_at"], log["stats"]["completed_at"]) == (
        "2026-11-21T10:00:00+00:00", "2026-11-21T10:00:01.500000+00:00",
    )  # fmt: skip
    traces = [each["trace"] for each in json.loads(str(render("evalview", [report], context)))]
    run = context.created_utc.isoformat()
    assert [(each["start_time"], each["end_time"]) for each in traces] == [
        ("2026-11-21T10:00:00+00:00", "2026-11-21T10:00:01.500000+00:00"), ("2026-11-21T10:00:05+00:00",) * 2, (run, run),
    ]  # fmt: skip
    unknown = make_report(taskResults=[items[2]])
    stats = json.loads(str(render("inspect", [unknown], context)))["stats"]
    assert (stats["started_at"], stats["completed_at"]) == ("", "")


def test_a_call_has_its_error_and_no_arguments_that_were_not_given(
    make_report: MakeReport, make_item: MakeItem, context: ReportContext
) -> None:
    calls = [{"name": "oven", "id": "c1", "error": "too hot"}, {"name": "oven", "arguments": "on"}]
    report = make_report(taskResults=[make_item(toolCalls=calls)])
    [sample] = json.loads(str(render("inspect", [report], context)))["samples"]
    given = [call["arguments"] for each in sample["messages"] for call in each.get("tool_calls", ())]
    assert given == [{}, {"arguments": "on"}]
    assert [(each["tool_call_id"], each["error"]) for each in sample["messages"] if each["role"] == "tool"] == [
        ("c1", {"type": "unknown", "message": "too hot"})
    ]
    [result] = json.loads(str(render("evalview", [report], context)))
    assert [step["parameters"] for step in result["trace"]["steps"]] == [{}, {"arguments": "on"}]
