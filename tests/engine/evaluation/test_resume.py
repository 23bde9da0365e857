"""Going on with a run: what is on record stays, what was asked stays, and nothing is asked twice."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.core.models import ItemResult
from eval_skills.core.store import Journal, Store, land, land_reports, new_run_id, prune_items, write_manifest
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.plan import Item, RunPlan, make_plan
from eval_skills.engine.evaluation.resume import rest_of, resumed_plan
from eval_skills.engine.evaluation.session import manifest_of

if TYPE_CHECKING:
    from tests.engine.evaluations import MakeRequest

Begin = Callable[..., RunPlan]


def result(plan: RunPlan, item: Item, status: Any = "pass") -> ItemResult:
    skill_id, _, version = item.skill.partition("@")
    return ItemResult(
        run_id=plan.run_id,
        started_at=datetime.now(UTC),
        skill_id=skill_id,
        skill_version=version,
        benchmark_id=plan.benchmark.id,
        benchmark_version=plan.benchmark.version,
        task_id=item.task,
        run_index=item.run,
        status=status,
        passed=status == "pass",
    )


def record(plan: RunPlan, scoring_digest: str | None = None, /, **statuses: str) -> None:
    """Put these tasks of the first run on record; without a digest as earlier versions did."""
    with Journal(plan.store.journal_path(plan.run_id)) as journal:
        for task, status in statuses.items():
            made = result(plan, Item("moody@1.0.0", task, 0), status)
            journal.append(made.model_copy(update={"scoring_digest": scoring_digest}))


def left(plan: RunPlan) -> list[str]:
    return [item.task for item in plan.items]


@pytest.fixture
def begin(make_request: MakeRequest) -> Begin:
    """Begins a run: plans it and writes its manifest."""

    def start(*whats: str, run_id: str | None = None, **fields: Any) -> RunPlan:
        plan = make_plan(make_request(*whats, **fields), run_id=run_id)
        write_manifest(plan.store.run_folder(plan.run_id), manifest_of(plan), secrets={})
        return plan

    return start


@pytest.fixture
def resume(tmp_path: Path) -> Callable[..., RunPlan]:
    def go_on(run_id: str = "latest", **fields: Any) -> RunPlan:
        return resumed_plan(EvaluateRequest(resume=run_id, store=str(tmp_path / "store"), **fields))

    return go_on


class TestWhatIsLeft:
    def test_p52_what_the_journal_holds_is_done(self, begin: Begin, resume: Begin) -> None:
        plan = begin("a", "b", "c")
        record(plan, a="pass", b="error")
        rest = resume()
        assert (rest.run_id, left(rest), rest.finished, rest.planned) == (plan.run_id, ["c"], 2, 3)

    def test_what_has_landed_is_done(self, begin: Begin, resume: Begin) -> None:
        plan = begin("a", "b")
        record(plan, a="pass", b="fail")
        land(plan.store, plan.run_id)
        assert (left(resume()), resume().finished) == ([], 2)

    def test_a_line_that_a_kill_has_torn_is_not_done(self, begin: Begin, resume: Begin) -> None:
        plan = begin("a", "b")
        record(plan, a="pass", b="pass")
        journal = plan.store.journal_path(plan.run_id)
        journal.write_bytes(journal.read_bytes()[:-5])
        assert left(resume()) == ["b"]

    def test_errors_and_timeouts_run_again_only_when_asked(self, begin: Begin, resume: Begin) -> None:
        record(begin("a", "b", "c", "d"), a="pass", b="error", c="timeout", d="fail")
        assert left(resume()) == []
        assert left(resume(retry_errors=True)) == ["b", "c"]

    def test_asked_again_under_the_lock_it_leaves_out_what_another_process_did_meanwhile(
        self, begin: Begin, resume: Begin
    ) -> None:
        plan = begin("a", "b", "c")
        mine = resume()
        record(plan, a="pass", c="fail")
        rest = rest_of(mine)
        assert (left(mine), left(rest), rest.planned) == (["a", "b", "c"], ["b"], 3)

    def test_p52_another_run_index_is_another_item(self, begin: Begin, resume: Begin) -> None:
        record(begin("a", runs=2), a="pass")
        assert [item.run for item in resume().items] == [1]


class TestWhichRun:
    def test_latest_is_the_youngest_unfinished_else_the_youngest(self, begin: Begin, resume: Begin) -> None:
        old, young = (begin("a", run_id=f"2026112{day}T000000Z-0000") for day in (1, 2))
        assert resume().run_id == young.run_id
        record(young, a="pass")
        land(young.store, young.run_id)
        assert resume().run_id == old.run_id
        record(old, a="pass")
        land(old.store, old.run_id)
        assert resume().run_id == young.run_id

    def test_latest_is_no_run_of_a_time_to_come(self, begin: Begin, resume: Begin) -> None:
        begin("a", run_id="20261121T000000Z-0000")
        tomorrow = begin("a", run_id=new_run_id(datetime.now(UTC) + timedelta(days=1)))
        with pytest.raises(UsageError, match=f"run {tomorrow.run_id} of .* in the future"):
            resume()
        assert resume(tomorrow.run_id).run_id == tomorrow.run_id

    def test_a_folder_without_a_manifest_is_no_run(self, begin: Begin, resume: Begin, tmp_path: Path) -> None:
        plan = begin("a", run_id="20261121T000000Z-0000")
        Store(tmp_path / "store").run_folder("20261122T000000Z-0000").mkdir()
        assert resume().run_id == plan.run_id

    def test_p40_an_empty_store_has_nothing_to_resume(self, resume: Begin) -> None:
        with pytest.raises(UsageError, match="nothing to resume"):
            resume()

    def test_p40_an_unknown_run_names_the_latest(self, begin: Begin, resume: Begin) -> None:
        plan = begin("a")
        with pytest.raises(UsageError, match=f"no run 20200101T000000Z-0000 in .*; the latest there is {plan.run_id}"):
            resume("20200101T000000Z-0000")

    @pytest.mark.parametrize("name", ["../x", "last", ""])
    def test_p72_what_is_no_run_id_is_refused(self, begin: Begin, resume: Begin, name: str) -> None:
        begin("a")
        if name:
            with pytest.raises(UsageError, match="is not a run id"):
                resume(name)
        else:
            assert left(resume(name)) == ["a"]


class TestWhatIsAsked:
    def test_what_decides_results_stays_and_what_does_not_may_change(self, begin: Begin, resume: Begin) -> None:
        begin("a", timeout_ms=1234, runs=2, concurrency=3)
        request = resume(concurrency=7, retries=2, format=["csv"], fail_fast=True).request
        assert (request.timeout_ms, request.runs) == (1234, 2)
        assert (request.concurrency, request.retries, request.format, request.fail_fast) == (7, 2, ["csv"], True)

    def test_an_option_that_decides_results_cannot_change_on_the_way(self, begin: Begin, resume: Begin) -> None:
        begin("a", runs=2)
        with pytest.raises(UsageError, match="--runs decides results and was 2 when run"):
            resume(runs=3)
        assert resume(runs=2).planned == 2

    def test_a_changed_benchmark_is_refused(self, begin: Begin, resume: Begin, write_tasks: Callable[..., str]) -> None:
        begin("a")
        write_tasks("a", "b")
        with pytest.raises(UsageError, match="changed since run"):
            resume()

    def test_a_changed_skill_is_a_remark(self, begin: Begin, resume: Begin, tmp_path: Path) -> None:
        begin("a")
        (tmp_path / "skills" / "moody" / "more.py").write_text("x = 1")
        [remark] = resume().remarks
        assert remark.startswith("moody@1.0.0 changed since run")

    def test_p40_what_could_not_be_used_when_it_began_still_keeps_the_gate_shut(
        self, begin: Begin, resume: Begin, write_skill: Callable[..., Path], tmp_path: Path
    ) -> None:
        manifest = write_skill("broken") / "skill.json"
        whole = manifest.read_text()
        manifest.write_text("{")
        write_skill("moody")
        began = begin("a", skills=[str(tmp_path / "skills")])
        assert (began.skipped, list(began.skills)) == (1, ["moody@1.0.0"])
        rest = resume()
        assert (rest.skipped, rest.skips) == (1, began.skips)
        manifest.write_text(whole)
        assert resume(skills=[str(tmp_path / "skills")]).remarks == rest.remarks, "it was there when the run began"

    def test_a_skill_that_came_later_is_named(
        self, begin: Begin, resume: Begin, write_skill: Callable[..., Path], tmp_path: Path
    ) -> None:
        folder = str(tmp_path / "skills")
        write_skill("moody")
        run_id = begin("a", skills=[folder]).run_id
        write_skill("late")

        said = resume(skills=[folder])

        assert said.remarks == [f"late@1.0.0 was not there when run {run_id} began, and not asked in it; a new run asks all"]
        assert (said.skipped, list(said.skills), resume().remarks) == (0, ["moody@1.0.0"], [])

    def test_p27_any_working_directory_will_do(
        self,
        begin: Begin,
        resume: Begin,
        write_skill: Callable[..., Path],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.chdir(write_skill().parents[1])
        begin("a", skills=["skills/moody"])
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        assert left(resume()) == ["a"]


def test_verdicts_of_something_else_are_named(begin: Begin, resume: Begin) -> None:
    plan = begin("a", "b", "c", "d")
    record(plan, plan.digests["scoring/a"], a="pass")
    record(plan, b="pass")
    assert resume().remarks == plan.remarks
    record(plan, "sha256:0123456789abcdef", c="fail")
    [remark] = resume().remarks
    assert remark == (
        f"what judges 1 task (c) changed since run {plan.run_id} began; older verdicts are kept, so no comparison can count "
        "these tasks; rescore the run when it is finished"
    )


def test_what_another_process_did_meanwhile_is_not_asked_again(begin: Begin, resume: Begin) -> None:
    plan = begin("fail", "pass")
    rest = resume()
    with Journal(plan.store.journal_path(plan.run_id)) as journal:  # a verdict that the task's skill would not get here
        journal.append(result(plan, Item("moody@1.0.0", "fail", 0)).model_copy(update={"score": 1.0}))
    summary = evaluate_in_process(rest)
    [fail, _] = summary.reports[0].task_results
    assert (summary.finished, fail.task_id, fail.status) == (2, "fail", "pass")


def test_a_run_whose_items_were_deleted_since_it_was_planned_does_not_land_the_rest_as_the_whole(
    begin: Begin, resume: Begin, tmp_path: Path
) -> None:
    plan = begin("pass", "error")
    record(plan, **{"pass": "pass", "error": "error"})
    land(plan.store, plan.run_id)
    land_reports(plan.store, plan.run_id, None, [])
    rest = resume(retry_errors=True)
    prune_items(Store(tmp_path / "store"), before=datetime.now(UTC) + timedelta(days=1), keep=set())
    with pytest.raises(UsageError, match=r"its items were deleted on .* \(--keep-days\)"):
        evaluate_in_process(rest)
    assert sorted(path.name for path in plan.store.run_folder(plan.run_id).iterdir()) == ["manifest.json", "pruned"]


@pytest.mark.parametrize("secret", ["none", "local", "markdown", "exact", "30000", "coding-easy", "timeoutMs", "true"])
def test_a_run_whose_secret_is_spelt_like_an_option_goes_on(
    make_request: MakeRequest, monkeypatch: pytest.MonkeyPatch, resume: Begin, secret: str
) -> None:
    monkeypatch.setenv("ODD", secret)
    plan = make_plan(make_request("a", "b", secrets=["ODD"], provenance={"by": f"somebody {secret}"}, format=["markdown"]))
    plan.write_manifest(manifest_of(plan))
    request = plan.store.manifest(plan.run_id).request
    kept = [request[name] for name in ("sandbox", "evaluator", "timeoutMs", "format", "benchmark")]
    assert kept == ["none", "exact", 30000, ["markdown"], "coding-easy"]
    assert request["provenance"] == {"by": "somebody [redacted:ODD]"}
    assert left(resume()) == ["a", "b"]


def test_a_replay_is_continued_by_its_backfill_where_its_commit_is_not_checked_out(begin: Begin, resume: Begin) -> None:
    plan = begin("right", origin="replay", provenance={"period": "2026-01-03"})
    assert resume().run_id == plan.run_id
    for skill in plan.request.skills:
        shutil.rmtree(skill)
    with pytest.raises(UsageError, match=f"run {plan.run_id} is the period 2026-01-03 of a backfill: make the same call"):
        resume()
