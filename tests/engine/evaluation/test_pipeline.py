"""A pipeline's run whose Prefect server is gone ends as the flow would have ended it."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.errors import RunError
from eval_skills.core.store import write_manifest
from eval_skills.engine.definition.request import EvaluateRequest, PipelineRequest
from eval_skills.engine.discovery import FoundSkills
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.pipeline import evaluation_of, finish_without_prefect, found_skills
from eval_skills.engine.evaluation.plan import make_plan
from eval_skills.engine.evaluation.resume import resumed_plan
from eval_skills.engine.evaluation.session import manifest_of
from eval_skills.engine.stored_runs.reports import read_source
from eval_skills.reporting.stopping import asked_by

if TYPE_CHECKING:
    from tests.engine.evaluations import MakePlan


@pytest.mark.slow
def test_the_rest_without_prefect_selects_like_the_flow_and_knows_what_was_skipped(
    tmp_path: Path, make_plan_of: MakePlan, write_skill: Callable[..., Path], write_tasks: Callable[..., str]
) -> None:
    plan = make_plan_of("ok", "wrong")
    write_manifest(plan.store.run_folder(plan.run_id), manifest_of(plan))
    (write_skill("broken") / "skill.json").write_text("{")
    request = PipelineRequest(
        skills_dir=str(tmp_path / "skills"),
        tasks=plan.request.tasks,
        store=plan.request.store,
        format=["json"],
        output_dir=str(tmp_path / "reports"),
    )
    summary = finish_without_prefect(request, plan.run_id)
    assert (summary.finished, [report.summary.completion_rate for report in summary.reports]) == (2, [0.5])
    assert summary.selected == [], "half is below the floor that the flow has"
    [removed] = summary.removed
    assert removed.endswith(": completion 50.0 % is under 70.0 % (minCompletionRate)")
    assert summary.min_completion == 0.7
    assert summary.skipped == 1, "the gate must not pass over a skill that could not be used"
    assert not summary.gate_passed
    assert summary.line.endswith("; 0 of 1 skills selected")
    assert [path.suffix for path in map(Path, summary.report_files)] == [".json"]


@pytest.mark.slow
def test_p40_a_resumed_pipeline_still_knows_which_skills_could_not_be_used(
    tmp_path: Path, write_skill: Callable[..., Path], write_tasks: Callable[..., str]
) -> None:
    write_skill("fine")
    (write_skill("broken") / "skill.json").write_text("{")
    request = PipelineRequest(skills_dir=str(tmp_path / "skills"), tasks=write_tasks("ok"), store=str(tmp_path / "store"))
    plan = make_plan(evaluation_of(request, found_skills(request)))
    write_manifest(plan.store.run_folder(plan.run_id), manifest_of(plan))
    rest = resumed_plan(EvaluateRequest(resume=plan.run_id, store=request.store))
    assert (rest.skipped, "broken" in rest.remarks[0]) == (1, True)
    summary = finish_without_prefect(request, plan.run_id)
    assert (summary.skipped, summary.remarks.count(rest.remarks[0])) == (1, 1), "known twice, and counted once"


@pytest.mark.slow
@pytest.mark.parametrize(("asked", "limit"), [({}, 0.7), ({"min_completion": 0.9}, 0.9), ({"strategy": "strategy.yaml"}, 0.2)])
def test_a_stored_run_is_judged_by_the_limit_that_its_pipeline_had(
    tmp_path: Path,
    write_skill: Callable[..., Path],
    write_tasks: Callable[..., str],
    asked: dict[str, Any],
    limit: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("strategy.yaml").write_text("filters: {minCompletionRate: 0.2}")
    write_skill("fine")
    request = PipelineRequest(
        skills_dir=str(tmp_path / "skills"), tasks=write_tasks("ok"), store=str(tmp_path / "store"), exit_on_fail=True, **asked
    )
    plan = make_plan(evaluation_of(request, found_skills(request)))
    write_manifest(plan.store.run_folder(plan.run_id), manifest_of(plan))
    resumed = PipelineRequest(resume=plan.run_id, store=request.store)
    rest = resumed_plan(evaluation_of(resumed, FoundSkills([], []))).request
    assert (rest.min_completion, rest.exit_on_fail) == (limit, True), "a resume that says nothing of it"
    assert finish_without_prefect(resumed, plan.run_id).min_completion == limit
    assert read_source(plan.run_id, request.store).context.min_completion == limit


@pytest.mark.parametrize(
    ("asked", "now", "selected"),
    [
        pytest.param({"top_k": 1}, {}, 1, id="as-it-began"),
        pytest.param({"top_k": 1, "keep_ties": True}, {}, 2, id="with-its-ties"),
        pytest.param({"strategy": "one.yaml"}, {}, 1, id="by-its-file"),
        pytest.param({"strategy": "one.yaml"}, {"top_k": 2}, 2, id="this-call-says-it"),
        pytest.param({}, {"strategy": "one.yaml"}, 1, id="this-call-has-a-file"),
        pytest.param({"top_k": 1, "keep_ties": True}, {"strategy": "one.yaml"}, 1, id="a-file-stands-for-all-of-it"),
    ],
)
def test_a_resumed_pipeline_selects_as_it_began_unless_the_call_says_otherwise(
    tmp_path: Path,
    write_skill: Callable[..., Path],
    write_tasks: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    asked: dict[str, Any],
    now: dict[str, Any],
    selected: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.yaml").write_text("topK: 1")
    for name in ("fine", "good"):
        write_skill(name)
    request = PipelineRequest(
        skills_dir=str(tmp_path / "skills"), tasks=write_tasks("ok"), store=str(tmp_path / "store"), **asked
    )
    plan = make_plan(evaluation_of(request, found_skills(request)))
    plan.write_manifest(manifest_of(plan))
    assert asked_by(plan.store.manifest(plan.run_id).provenance) == "run"
    resumed = PipelineRequest(resume=plan.run_id, store=request.store, **now)
    summary = finish_without_prefect(resumed, plan.run_id)
    assert len(summary.selected or ()) == selected


def test_the_rest_without_prefect_is_held_to_what_this_call_said_not_the_one_that_began_the_run(make_plan_of: MakePlan) -> None:
    plan = make_plan_of("wrong", "ok", min_completion=0.2, max_cost=1.0)
    plan.write_manifest(manifest_of(plan))
    resumed = EvaluateRequest(
        resume="latest", store=plan.request.store, min_completion=0.9, exit_on_fail=True, fail_fast=True, concurrency=1
    )
    summary = finish_without_prefect(resumed, plan.run_id)
    assert (summary.min_completion, summary.gated) == (0.9, True)
    assert (summary.finished, summary.planned) == (1, 2), "it stops at the first item that does not pass"


def test_a_stored_run_is_judged_by_the_gate_of_the_call_that_went_on_with_it_last(make_plan_of: MakePlan) -> None:
    plan = make_plan_of("wrong")
    plan.write_manifest(manifest_of(plan))
    store = plan.request.store

    def shown_after(**gate: Any) -> float | None:
        evaluate_in_process(resumed_plan(EvaluateRequest(resume=plan.run_id, store=store, **gate)))
        return read_source(plan.run_id, store).context.min_completion

    assert shown_after() is None
    assert shown_after(exit_on_fail=True, min_completion=0.9) == 0.9, "although nothing was left to ask"
    assert shown_after() == 0.9, "a call that says nothing of it"
    assert shown_after(exit_on_fail=False) is None


def test_a_run_whose_reports_cannot_be_written_is_kept_and_named(
    tmp_path: Path, make_plan_of: MakePlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan_of("ok")
    plan.write_manifest(manifest_of(plan))
    store, folder, replace = plan.request.store, tmp_path / "reports", Path.replace

    def full(path: Path, target: Path) -> Path:
        if target.parent == folder:
            raise OSError(errno.ENOSPC, "No space left on device")
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", full)
    again = f"eval-skills report convert --input {plan.run_id} --format json csv --output FOLDER/ --store {store}"
    request = EvaluateRequest(skills=["s"], tasks=plan.request.tasks, store=store, format=["json", "csv"], output_dir=str(folder))
    with pytest.raises(RunError) as raised:
        finish_without_prefect(request, plan.run_id)
    assert str(raised.value) == (
        f"{folder}: reports cannot be written here: No space left on device; run {plan.run_id} is kept; "
        f"write them elsewhere with: {again}"
    )
    assert len(read_source(plan.run_id, store).reports) == 1


@pytest.mark.slow
def test_reports_that_are_written_stay_the_only_ones_and_the_duration_is_that_of_the_whole_run(
    tmp_path: Path, make_plan_of: MakePlan
) -> None:
    plan = make_plan_of("ok")
    write_manifest(plan.store.run_folder(plan.run_id), manifest_of(plan))
    folder = tmp_path / "reports"
    request = EvaluateRequest(
        skills=["s"], tasks=plan.request.tasks, store=plan.request.store, format=["json"], output_dir=str(folder)
    )
    written = [folder / "eval-result.json"]
    summary = finish_without_prefect(request, plan.run_id, monotonic() - 100.0, written)
    assert summary.report_files == written
    assert not folder.exists(), "none is written beside it"
    assert " in 1 min 4" in summary.line
