"""Judging options that were typed where no model is asked: the call says so, and does what it does without them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from eval_skills.core.config.layers import variable_of
from eval_skills.core.store import Store
from tests.engine.backfill.backfills import backfill

Run = Callable[..., Any]
RUN_ID = "20260301T120000Z-0001"

NOBODY = "--judge-model does nothing here: no task is judged by a model; a task is judged by one where its evaluator is llm_judge"


def sums(place: Any, **task: Any) -> str:
    tasks = [{"id": f"t{number}", "inputData": {}, "expectedOutput": {"value": "17"}, **task} for number in range(4)]
    return str(place.write("sums.json", {"id": "sums", "name": "Sums", "version": "2.0.0", "tasks": tasks}))


def judged(**options: Any) -> dict[str, Any]:
    return {"evaluator": {"type": "llm_judge", "criteria": "Be right.", **options}}


def dry_run(run_here: Run, place: Any, *flags: str, **task: Any) -> Any:
    return run_here("eval", "--skills", "skills", "--tasks", sums(place, **task), "--dry-run", *flags)


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        pytest.param(["--judge-model", "openai/x"], "--judge-model does nothing here", id="model"),
        pytest.param(["--max-judge-cost", "1"], "--max-judge-cost does nothing here", id="cost"),
        pytest.param(
            ["--judge-model", "gpt", "--judge-concurrency", "2", "--no-judge-cache"],
            "--judge-model, --judge-concurrency and --no-judge-cache do nothing here",
            id="several",
        ),
    ],
)
def test_what_was_typed_for_nothing_is_said(run_here: Run, place: Any, flags: list[str], told: str) -> None:
    result = dry_run(run_here, place, *flags)
    assert result.code == 0, result.err
    assert f"{told}: no task is judged by a model" in result.out


def test_json_says_it_too(run_here: Run, place: Any) -> None:
    remarks = dry_run(run_here, place, "--judge-model", "openai/x", "--json").json["remarks"]
    assert remarks[-1].startswith(NOBODY)


@pytest.mark.parametrize("source", ["file", "variable"])
def test_what_is_configured_is_not_what_this_call_asked_for(
    run_here: Run, place: Any, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    if source == "file":
        place.write("eval-skills.config.yaml", {"llm": {"model": "openai/x"}, "maxJudgeCost": 1})
    else:
        monkeypatch.setenv(variable_of(("llm", "model")), "openai/x")
    result = dry_run(run_here, place)
    assert (result.code, "judge" in result.out + result.err) == (0, False), result.err


@pytest.mark.parametrize(
    "task",
    [
        pytest.param(judged(), id="llm_judge"),
        pytest.param(judged(models=[None, "openai/y"]), id="in-a-panel"),
        pytest.param({"checks": {"hallucination": {"mode": "both"}}}, id="claims"),
    ],
)
def test_where_the_model_is_asked_nothing_is_said(run_here: Run, place: Any, task: dict[str, Any]) -> None:
    result = dry_run(run_here, place, "--judge-model", "openai/x", **task)
    assert result.code == 0, result.err
    assert "--judge-model" not in result.out + result.err


def test_a_model_that_no_task_asks_since_all_name_their_own_is_said(run_here: Run, place: Any) -> None:
    result = dry_run(run_here, place, "--judge-model", "openai/x", "--max-judge-cost", "1", **judged(models=["xai/a", "xai/b"]))
    said = "--judge-model openai/x is not used: every task that a model judges names its own (xai/a, xai/b)"
    assert said in result.out, result.err


@pytest.mark.slow
def test_a_rescoring_by_rules_alone_says_so(run_here: Run, past: Callable[..., str], place: Any) -> None:
    past(RUN_ID)
    result = run_here("rescore", "latest", "--benchmark", sums(place), "--judge-model", "gpt", "--max-judge-cost", "1", "--json")
    assert result.code == 0, result.err
    said = "--judge-model and --max-judge-cost do nothing here: no task is judged by a model"
    assert result.json["remarks"][-1].startswith(said)
    assert said in result.err
    place.write("eval-skills.config.yaml", {"llm": {"model": "openai/x"}})
    assert "judge" not in run_here("rescore", "latest", "--benchmark", sums(place)).err


def test_a_calibration_by_stored_verdicts_asks_no_model_and_says_so(run_here: Run, place: Any, past: Callable[..., str]) -> None:
    past(RUN_ID)
    labels = place.write("labels.csv", "task_id,label\nt0,pass\n")
    result = run_here("judge", "calibrate", "--labels", str(labels), "--run", "latest", "--judge-model", "openai/x")
    assert "--judge-model: not needed with --run, whose verdicts are compared as they are; no model is asked" in result.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "told"),
    [
        pytest.param("recompute", "--judge-model: not needed with --mode recompute, which judges nothing", id="recompute"),
        pytest.param("rescore", NOBODY, id="rescore"),
    ],
)
def test_a_backfill_that_asks_no_model_says_so(run_here: Run, past: Callable[..., str], place: Any, mode: str, told: str) -> None:
    past(RUN_ID)
    options: dict[str, Any] = {"benchmark": sums(place)} if mode == "rescore" else {}
    backfill(Store(place.folder / "eval-store"), mode, **options)  # so that no server is needed now
    flags = [word for name, value in options.items() for word in (f"--{name}", value)]
    result = run_here("backfill", "--mode", mode, *flags, "--judge-model", "openai/x")
    assert (result.code, told in result.err) == (0, True), result.err
    place.write("eval-skills.config.yaml", {"llm": {"model": "openai/x"}})
    assert "judge" not in run_here("backfill", "--mode", mode, *flags).err


@pytest.mark.slow
def test_a_run_and_a_monitor_by_rules_alone_say_so(served: Any) -> None:
    ran = served.call("eval", "--skills", "skills", "--benchmark", "coding-easy", "--judge-model", "openai/x")
    assert (ran.code, ran.err.count("--judge-model does nothing here")) == (0, 1), ran.err
    log = served.write("log.jsonl", '{"id": "a", "output": "17"}\n')
    task = served.write("task.json", {"id": "t", "inputData": {}, "expectedOutput": {"value": "17"}})
    watched = served.call("monitor", str(log), "--task", str(task), "--judge-model", "openai/x")
    assert (watched.code, NOBODY in watched.err) == (0, True), watched.err
    silent = served.call("monitor", str(log), "--judge-model", "openai/x", "--evaluator", "contains")
    assert "does nothing" not in silent.err, "what the log says may be judged by a model"
