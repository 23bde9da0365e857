"""Tasks that are chosen by how they ended in an earlier run, and runs that were asked a part of their benchmark."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import UserError
from eval_skills.core.models import ItemResult
from eval_skills.core.store import Journal, Store, past_runs, write_manifest
from eval_skills.core.trend.trend import trend
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.plan import make_plan
from eval_skills.engine.evaluation.resume import resumed_plan
from eval_skills.engine.evaluation.session import manifest_of
from eval_skills.engine.evaluation.summary import RunSummary
from eval_skills.engine.stored_runs.reports import read_source
from tests.engine.evaluations import MakeRequest


@pytest.fixture
def whole(make_request: MakeRequest) -> tuple[EvaluateRequest, RunSummary]:
    """A run of three tasks, of which one failed and one was an error; and its request."""
    request = make_request("ok", "wrong", "die")
    return request, evaluate_in_process(make_plan(request))


def part(request: EvaluateRequest, **choice: Any) -> EvaluateRequest:
    return EvaluateRequest.model_validate(request.model_dump(exclude_unset=True) | choice)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("choice", "asked"),
    [
        pytest.param({"tasks_from": ["failed:latest"]}, ["wrong"], id="failed"),
        pytest.param({"tasks_from": ["errors:latest"]}, ["die"], id="errors"),
        pytest.param({"tasks_from": ["failed:latest", "errors:latest"]}, ["wrong", "die"], id="any-of-both"),
        pytest.param({"tasks_from": ["failed:latest", "errors:latest"], "task_ids": ["die", "ok"]}, ["die"], id="that-are-named"),
        pytest.param({"task_ids": ["ok"]}, ["ok"], id="named"),
    ],
)
def test_only_the_chosen_tasks_are_asked(
    whole: tuple[EvaluateRequest, RunSummary], choice: dict[str, Any], asked: list[str]
) -> None:
    plan = make_plan(part(whole[0], **choice))
    assert [task.id for task in plan.benchmark.tasks] == asked
    assert plan.request.origin == "part"
    are = "is" if len(asked) == 1 else "are"
    assert f"only {len(asked)} of the 3 tasks of {plan.benchmark.id} {are} asked" in plan.remarks


@pytest.mark.slow
def test_a_run_without_its_items_does_not_say_that_nothing_failed(whole: tuple[EvaluateRequest, RunSummary]) -> None:
    request, summary = whole
    (file,) = Store(request.store).tables.files("items", [summary.run_id]).values()
    Path(file).unlink()
    with pytest.raises(UserError, match="how its tasks ended is not known: the store has no items of that run"):
        make_plan(part(request, tasks_from=["failed:latest"]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("choice", "says"),
    [
        pytest.param({"tasks_from": ["flaky:latest"]}, "passed in one run.*failed 1, errors 1, flaky 0", id="none"),
        pytest.param({"tasks_from": ["failed:latest"], "task_ids": ["ok"]}, "and --task have no task in common", id="no-overlap"),
        pytest.param({"tasks_from": ["failed:2020"]}, "no run in the store .* begins with 2020", id="no-such-run"),
        pytest.param({"task_ids": ["okk"]}, "no task 'okk'.*did you mean 'ok'.*tasks are ok, wrong, die", id="no-such-task"),
        pytest.param({"filter": ["id=nope"]}, "no task of .* has that value; id is \"ok\", \"wrong\", \"die\"", id="filter"),
    ],
)  # fmt: skip
def test_a_choice_that_leaves_nothing_says_what_there_is(
    whole: tuple[EvaluateRequest, RunSummary], choice: dict[str, Any], says: str
) -> None:
    with pytest.raises(UserError, match=says):
        make_plan(part(whole[0], **choice))


def test_a_task_is_flaky_that_passed_in_one_run_and_not_in_another(make_request: MakeRequest) -> None:
    request = make_request("ok", "wrong", runs=2)
    plan = make_plan(request)
    write_manifest(plan.store.run_folder(plan.run_id), manifest_of(plan))
    with Journal(plan.store.journal_path(plan.run_id)) as journal:
        for task, run, status in (("ok", 0, "pass"), ("ok", 1, "fail"), ("wrong", 0, "fail"), ("wrong", 1, "fail")):
            about: dict[str, Any] = {
                "run_id": plan.run_id,
                "skill_id": "moody",
                "skill_version": "1.0.0",
                "benchmark_id": plan.benchmark.id,
            }
            about |= {"started_at": datetime(2026, 11, 21, tzinfo=UTC), "benchmark_version": plan.benchmark.version}
            ended = {"task_id": task, "run_index": run, "status": status, "passed": status == "pass"}
            journal.append(ItemResult.model_validate(about | ended))
    flaky = make_plan(part(request, tasks_from=[f"flaky:{plan.run_id}"]))
    assert [task.id for task in flaky.benchmark.tasks] == ["ok"]


@pytest.mark.slow
def test_a_part_is_never_taken_for_the_whole(whole: tuple[EvaluateRequest, RunSummary]) -> None:
    request, first = whole
    store = Store(request.store)
    second = evaluate_in_process(make_plan(part(request, task_ids=["ok"])))
    assert second.reports[0].summary.completion_rate == 1.0
    assert [run.origin for run in past_runs(store)] == ["part", "run"] or {run.origin for run in past_runs(store)} == {
        "part",
        "run",
    }
    assert store.history() == {first.reports[0].skill_key: pytest.approx(1 / 3)}
    [points] = trend(store, first.reports[0].skill_id).values()
    assert [point.run_id for point in points] == [first.run_id]
    said = read_source(second.run_id, request.store)
    assert any("only 1 of the 3 tasks" in remark for remark in said.remarks)
    assert any("only 1 of the 3 tasks" in note for note in said.context.notes)


def test_where_there_are_only_parts_they_are_all_there_is(make_request: MakeRequest) -> None:
    request = part(make_request("ok", "wrong"), task_ids=["ok"])
    summary = evaluate_in_process(make_plan(request))
    [points] = trend(Store(request.store), summary.reports[0].skill_id).values()
    assert [point.run_id for point in points] == [summary.run_id]


@pytest.mark.slow
def test_a_resumed_run_keeps_its_choice(whole: tuple[EvaluateRequest, RunSummary], tmp_path: Path) -> None:
    plan = make_plan(part(whole[0], tasks_from=["failed:latest"]))
    write_manifest(plan.store.run_folder(plan.run_id), manifest_of(plan))
    again = resumed_plan(EvaluateRequest(resume=plan.run_id, store=whole[0].store))
    assert [task.id for task in again.benchmark.tasks] == ["wrong"]
    assert again.request.tasks_from == [f"failed:{whole[1].run_id}"]
