"""Stored answers are scored again without a call; the original's rows stay as they are."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import Attempt, ItemResult, ToolCall
from eval_skills.core.store import Journal, Store, land, prune_items, results_of
from eval_skills.core.store.retention import note_pruned
from eval_skills.core.store.scorings import ASKED
from eval_skills.core.store.sql import state_of
from eval_skills.core.store.verify import verify
from eval_skills.engine.evaluation.resume import resumed_plan
from eval_skills.engine.rescoring.diff import rescoring_diff
from eval_skills.engine.rescoring.plan import Rescoring, plan_rescoring
from eval_skills.engine.rescoring.request import RescoreRequest
from eval_skills.engine.rescoring.rescore import rescore

if TYPE_CHECKING:
    from tests.engine.evaluations import LandedRun, MakeRequest, WriteExpectations
    from tests.warm_command import WarmCommand


def items(store: Store, run_id: str) -> dict[tuple[str, int], ItemResult]:
    return {(result.task_id, result.run_index): result for result in results_of(store.item_table(run_id))}


def again(run_id: str, store: Store, **options: Any) -> Rescoring:
    plan = plan_rescoring(RescoreRequest(run_id=run_id, store=store.path, **options))
    rescore(plan)
    return plan


def test_p10_a_mended_expectation_changes_the_verdict_and_nothing_else(
    store: Store, landed_run: LandedRun, write_expectations: WriteExpectations
) -> None:
    of = landed_run({"x": "right", "y": "wrong"}, cost_usd=0.5, latency_ms=12.5, prompt_tokens=3)
    before = items(store, of)
    write_expectations(x="right", y="wrong")
    plan = again(of, store)
    after = items(store, plan.run_id)
    assert {key: (each.status, each.score) for key, each in after.items()} == {("x", 0): ("pass", 1.0), ("y", 0): ("pass", 1.0)}
    assert items(store, of) == before
    carried = {"output", "latency_ms", "cost_usd", "prompt_tokens", "attempts", "started_at", "skill_digest", "timeout_ms"}
    assert after["y", 0].model_dump(include=carried) == before["y", 0].model_dump(include=carried)
    assert {each.origin for each in after.values()} == {"rescore"}


def test_other_settings_than_then_are_told(store: Store, landed_run: LandedRun) -> None:
    of = landed_run({"x": "right"})
    assert again(of, store).remarks == []
    weighted = again(of, store, weights={"toolAccuracy": 0.9}, tool_names="normalised")
    assert weighted.remarks == [
        f'run {of} was scored with other settings: weights {{}} then, {{"toolAccuracy": 0.9}} now; '
        'toolNames "exact" then, "normalised" now'
    ]


def test_it_lands_at_the_original_s_moment_and_says_where_it_comes_from(
    store: Store, landed_run: LandedRun, write_expectations: WriteExpectations
) -> None:
    of = landed_run({"x": "right"})
    write_expectations(x="other")
    plan = again(of, store)
    assert plan.run_id != of
    assert plan.run_id.rpartition("-")[0] == of.rpartition("-")[0]
    manifest = store.manifest(plan.run_id)
    assert manifest.origin == "rescore"
    assert manifest.provenance | {"backfilledAt": ""} == {
        "mode": "rescore", "of": of, "digest": plan.digest, "backfilledAt": "",
    }  # fmt: skip
    assert datetime.fromisoformat(manifest.provenance["backfilledAt"]) <= datetime.now(UTC)
    rows = store.reports(run_id=plan.run_id)
    assert (rows["origin"].item(), rows["completion_rate"].item()) == ("rescore", 0.0)
    assert store.latest_run() == of
    assert store.history() == {"moody@1.0.0": 1.0}


@pytest.mark.slow
def test_a_second_time_does_nothing_and_force_does_it_again(store: Store, landed_run: LandedRun) -> None:
    of = landed_run({"x": "right"})
    first = again(of, store)
    second = plan_rescoring(RescoreRequest(run_id=of, store=store.path))
    assert (first.landed, second.landed, second.run_id) == (False, True, first.run_id)
    forced = again(of, store, force=True)
    assert (forced.landed, forced.digest) == (False, first.digest)
    assert len({of, first.run_id, forced.run_id}) == 3


def test_the_digest_changes_with_whatever_judges(
    store: Store, landed_run: LandedRun, write_expectations: WriteExpectations, tmp_path: Path
) -> None:
    of = landed_run({"x": "right"})
    keywords = tmp_path / "keywords.json"
    keywords.write_text(json.dumps([{"id": "x", "inputData": {}, "expectedOutput": {"keywords": ["right"]}}]))
    contains = {"evaluator": "contains", "tasks": str(keywords)}
    changes: list[dict[str, Any]] = [{}, contains, {"tool_names": "normalised"}]
    digests = [plan_rescoring(RescoreRequest(run_id=of, store=store.path, **options)).digest for options in changes]
    write_expectations(x="left")
    digests.append(plan_rescoring(RescoreRequest(run_id=of, store=store.path)).digest)
    assert len(set(digests)) == 4


def test_what_has_no_answer_stays_as_it_is(store: Store, landed_run: LandedRun, write_expectations: WriteExpectations) -> None:
    trouble = {"score": None, "passed": False, "output": None}
    of = landed_run(
        {"x": "right", "e": "e", "t": "t"},
        e={"status": "error", "error_kind": "infra", "error_message": "gone", **trouble},
        t={"status": "timeout", "error_kind": "timeout", **trouble},
    )
    plan = again(of, store)
    after = items(store, plan.run_id)
    assert {task: each.status for (task, _), each in after.items()} == {"x": "pass", "e": "error", "t": "timeout"}
    assert after["e", 0].error_message == "gone"
    assert plan.remarks == ["2 items kept as an error or timeout: there is no answer to score"]


@pytest.mark.parametrize("kind", ["scorer", "judge"])
def test_p09_an_answer_whose_scoring_broke_is_judged(store: Store, landed_run: LandedRun, kind: str) -> None:
    broken = {"status": "error", "error_kind": kind, "error_message": "broke", "score": None, "passed": False}
    of = landed_run({"x": "right"}, x=broken)
    after = items(store, again(of, store).run_id)["x", 0]
    assert (after.status, after.score, after.error_kind, after.error_message) == ("pass", 1.0, None, None)


def test_an_item_of_before_there_was_a_limit_of_latencies_is_scored(store: Store, landed_run: LandedRun) -> None:
    of = landed_run({"x": "right"}, x={"latency_ms": 1e22})
    after = items(store, again(of, store).run_id)["x", 0]
    assert (after.status, after.latency_ms) == ("pass", 1e22)


@pytest.mark.slow
def test_sql_has_each_item_once_with_its_last_scoring_and_all_of_them_beside(
    store: Store, landed_run: LandedRun, write_expectations: WriteExpectations
) -> None:
    of = landed_run({"x": "right", "y": "right", "z": "right"})
    landed_run({"x": "right"})
    write_expectations(x="left", y="left", z="left")
    again(of, store)
    write_expectations(x="left", y="right")  # without z, which keeps the scoring before
    again(of, store)
    rows = store.query("SELECT task_id, list(status ORDER BY status) AS found FROM items GROUP BY 1").to_dict("records")
    assert {row["task_id"]: list(row["found"]) for row in rows} == {"x": ["fail", "pass"], "y": ["pass"], "z": ["fail"]}
    assert store.query("SELECT count(*) AS n FROM items_all")["n"].item() == 4 + 3 + 2
    assert store.query("SELECT count(*) AS n FROM items JOIN items_all USING (run_id, task_id)")["n"].item() == 4


@pytest.mark.slow
def test_an_answer_that_was_asked_for_again_is_not_hidden_by_a_scoring_of_the_one_before(
    store: Store, landed_run: LandedRun, write_expectations: WriteExpectations
) -> None:
    of = landed_run({"x": "right", "y": "wrong"})
    write_expectations(x="left", y="left")
    again(of, store)
    (broken,) = [each for each in results_of(store.item_table(of)) if each.task_id == "y"]
    later = [Attempt(started_at=broken.started_at + timedelta(minutes=5))]
    with Journal(store.journal_path(of)) as journal:
        journal.append(broken.model_copy(update={"status": "pass", "score": 1.0, "passed": True, "attempts": later}))
    land(store, of)
    found = "SELECT task_id, status, origin FROM items ORDER BY 1"
    assert store.query(found).to_numpy().tolist() == [["x", "fail", "rescore"], ["y", "pass", "run"]]
    write_expectations(x="left", y="right")
    again(of, store)
    assert store.query(found).to_numpy().tolist() == [["x", "fail", "rescore"], ["y", "fail", "rescore"]]


@pytest.mark.slow
def test_p48_what_was_not_judged_before_is_no_improvement_and_no_latency_is_compared(
    store: Store, landed_run: LandedRun, write_expectations: WriteExpectations
) -> None:
    broken = {"status": "error", "error_kind": "judge", "error_message": "down", "score": None, "passed": False}
    of = landed_run({"x": "right", "y": "mended", "z": "same"}, x=broken | {"latency_ms": 900.0})
    write_expectations(x="right", y="mended", z="same")
    document = rescoring_diff(again(of, store))
    [skill] = document.diff.skills
    assert [(row.metric, row.delta, row.good) for row in skill.rows] == [
        ("completionRate", None, None), ("errorRate", None, None), ("compositeScore", None, None),
    ]  # fmt: skip
    assert skill.statistics is not None
    assert (skill.statistics.tasks, skill.statistics.missing) == (2, None)
    assert {flip.task_id for flip in skill.flips} <= {"y", "z"}
    assert document.remarks == ["1 item not judged before and judged now: counted as no change"]


@pytest.mark.slow
def test_a_skill_of_which_nothing_was_judged_before_cannot_be_compared_and_it_says_why(
    store: Store, landed_run: LandedRun, write_expectations: WriteExpectations
) -> None:
    broken = {"status": "error", "error_kind": "judge", "error_message": "down", "score": None, "passed": False}
    of = landed_run({"x": "right", "y": "wrong"}, x=broken, y=broken)
    write_expectations(x="right", y="right")
    [skill] = rescoring_diff(again(of, store)).diff.skills
    assert (skill.verdict, skill.explanation) == ("inconclusive", "not comparable: no item has a verdict by both scorings")
    assert [(row.before, row.after) for row in skill.rows if row.metric == "completionRate"] == [(None, 0.5)]


@pytest.mark.slow
def test_a_changed_verdict_is_still_welcome_or_not(
    store: Store, landed_run: LandedRun, write_expectations: WriteExpectations
) -> None:
    of = landed_run({"x": "right", "y": "right"}, y={"scoring_digest": "sha256:another"})
    write_expectations(x="right", y="left")
    document = rescoring_diff(again(of, store))
    assert {row.metric: row.good for row in document.diff.skills[0].rows}["completionRate"] is False
    assert [flip.task_id for flip in document.diff.skills[0].flips] == ["y"]
    assert document.remarks == []


def test_an_answer_that_was_cut_is_left_out_and_counted(store: Store, landed_run: LandedRun) -> None:
    long = "x" * 70_000
    of = landed_run({"x": "right", "long": long})
    plan = again(of, store)
    assert list(items(store, plan.run_id)) == [("x", 0)]
    assert plan.remarks == ["1 item left out: the answer was cut to 64 KiB when it landed, so it cannot be scored"]
    assert plan.cut == 1
    assert store.manifest(plan.run_id).planned_items == 1


def test_p40_a_run_of_which_nothing_can_be_judged_is_refused(store: Store, landed_run: LandedRun) -> None:
    of = landed_run({"long": "x" * 70_000})
    with pytest.raises(InputError, match=f"nothing of run {of} can be scored again: 1 item left out: the answer was cut"):
        plan_rescoring(RescoreRequest(run_id=of, store=store.path))
    assert store.run_ids() == [of]


def test_a_run_whose_items_were_deleted_is_refused_with_the_day(store: Store, landed_run: LandedRun) -> None:
    """It asked to loosen options that nobody had given."""
    of = landed_run({"x": "right"})
    Path(store.tables.files("items")[of]).unlink()
    note_pruned(store, of)
    with pytest.raises(InputError, match=rf"nothing of run {of} can be scored again: .* were deleted on .* \(--keep-days\)"):
        plan_rescoring(RescoreRequest(run_id=of, store=store.path))


def test_a_task_that_the_benchmark_lost_is_left_out(
    store: Store, landed_run: LandedRun, write_expectations: WriteExpectations
) -> None:
    of = landed_run({"x": "right", "gone": "right"})
    write_expectations(x="right", new="n")
    plan = again(of, store)
    assert list(items(store, plan.run_id)) == [("x", 0)]
    assert plan.remarks == ["1 item left out: tasks@0.0.0 does not have 'gone'"]


def test_what_changed_is_said(store: Store, landed_run: LandedRun, write_expectations: WriteExpectations) -> None:
    of = landed_run({"x": "right", "y": "right"})
    write_expectations(x="right", y="left")
    [remark] = plan_rescoring(RescoreRequest(run_id=of, store=store.path)).remarks
    assert remark.startswith(f"1 task changed since run {of} ('y')")


def test_another_benchmark_may_judge(store: Store, landed_run: LandedRun, tmp_path: Path) -> None:
    of = landed_run({"x": "right"})
    task = {
        "id": "x",
        "inputData": {},
        "expectedOutput": {"keywords": ["RIG"]},
        "evaluator": "contains",
        "weight": 3,
        "tags": ["t"],
    }
    other = {"id": "lenient", "name": "Lenient", "version": "2.0.0", "tasks": [task]}
    path = tmp_path / "lenient.json"
    path.write_text(json.dumps(other))
    plan = again(of, store, benchmark=str(path))
    after = items(store, plan.run_id)["x", 0]
    assert (after.status, after.scorer, after.benchmark_id, after.benchmark_version) == ("pass", "contains", "lenient", "2.0.0")
    assert (after.weight, after.tags) == (3, ["t"])
    assert plan.remarks == [
        f"run {of} evaluated tasks@0.0.0; its answers are scored by lenient@2.0.0",
        f"1 task changed since run {of} ('x'): the answers are scored by what is expected today; where the input changed, they "
        "answer another question",
    ]


def test_tool_calls_are_judged_too(store: Store, landed_run: LandedRun, tmp_path: Path) -> None:
    of = landed_run({"x": "right"}, x={"tool_calls": [ToolCall(name="search", arguments={"q": 1})]})
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([{"id": "x", "inputData": {}, "expected": {"tools": ["search", "read"]}}]))
    after = items(store, again(of, store, tasks=str(path)).run_id)["x", 0]
    assert after.dimensions == {"tool_accuracy": 0.5}
    assert after.tool_calls == [ToolCall(name="search", arguments={"q": 1})]


@pytest.mark.slow
def test_p11_custom_code_is_allowed_anew(store: Store, landed_run: LandedRun, tmp_path: Path) -> None:
    of = landed_run({"x": "right"})
    (tmp_path / "own.py").write_text("def score(output, expected, task):\n    return 0.25\n")
    path = tmp_path / "custom.json"
    path.write_text(json.dumps([{"id": "x", "inputData": {}, "evaluator": {"type": "custom", "customScorerPath": "own.py"}}]))
    with pytest.raises(InputError, match="--allow-custom-code"):
        plan_rescoring(RescoreRequest(run_id=of, store=store.path, tasks=str(path)))
    plan = again(of, store, tasks=str(path), allow_custom_code=True)
    before = items(store, plan.run_id)["x", 0]
    assert before.score == 0.25
    (tmp_path / "own.py").write_text("def score(output, expected, task):\n    return 0.75\n")
    other = again(of, store, tasks=str(path), allow_custom_code=True)
    assert other.run_id != plan.run_id
    after = items(store, other.run_id)["x", 0]
    assert None not in (before.scoring_digest, after.scoring_digest)
    assert before.scoring_digest != after.scoring_digest


class TestRefusals:
    def test_p40_a_run_that_is_not_there(self, store: Store, landed_run: LandedRun) -> None:
        landed_run({"x": "right"})
        with pytest.raises(UsageError, match="no run 20200101T000000Z-0000"):
            plan_rescoring(RescoreRequest(run_id="20200101T000000Z-0000", store=store.path))

    def test_p40_an_empty_store(self, store: Store) -> None:
        with pytest.raises(UsageError, match="holds no run"):
            plan_rescoring(RescoreRequest(run_id="latest", store=store.path))

    def test_an_unfinished_run(self, store: Store, landed_run: LandedRun) -> None:
        of = landed_run({"x": "right"})
        with (
            Journal(store.journal_path(of)),
            pytest.raises(UsageError, match=f"run {of} is unfinished: a process works at run {of}"),
        ):
            plan_rescoring(RescoreRequest(run_id=of, store=store.path))
        again = f"eval-skills eval --resume {of} --store {store.path}"
        with pytest.raises(UsageError, match=f"run {of} is unfinished; finish it first with: {again}"):
            plan_rescoring(RescoreRequest(run_id=of, store=store.path))

    def test_a_benchmark_that_is_not_there_any_more(self, store: Store, landed_run: LandedRun, tmp_path: Path) -> None:
        of = landed_run({"x": "right"})
        (tmp_path / "tasks.json").unlink()
        with pytest.raises(InputError, match=r"tasks\.json: no such file"):
            plan_rescoring(RescoreRequest(run_id=of, store=store.path))

    def test_a_manifest_that_is_gone_needs_a_benchmark(self, store: Store, landed_run: LandedRun, tmp_path: Path) -> None:
        of = landed_run({"x": "right"})
        (store.run_folder(of) / "manifest.json").unlink()
        with pytest.raises(InputError, match="name its benchmark, as with --benchmark tasks"):
            plan_rescoring(RescoreRequest(run_id=of, store=store.path))
        plan = again(of, store, tasks=str(tmp_path / "tasks.json"))
        assert [skill.key for skill in store.manifest(plan.run_id).skills] == ["moody@1.0.0"]

    def test_a_scoring_is_never_resumed_by_calling_skills(
        self, store: Store, landed_run: LandedRun, make_request: MakeRequest
    ) -> None:
        of = landed_run({"x": "right"})
        scored = again(of, store).run_id
        with pytest.raises(UsageError, match=f"continue with: eval-skills rescore {of}"):
            resumed_plan(make_request(resume=scored))


KILLED = """
import os, sys
from eval_skills.engine.rescoring import rescore as rescoring
from eval_skills.engine.rescoring.plan import plan_rescoring
from eval_skills.engine.rescoring.request import RescoreRequest
def die(*arguments, **options):
    os.kill(os.getpid(), 9)
setattr(rescoring, sys.argv[3], die)
rescoring.rescore(plan_rescoring(RescoreRequest(run_id=sys.argv[1], store=sys.argv[2])))
"""

OTHER_STEPS = ("write_manifest", "land_reports", "mirror_sqlite")


@pytest.mark.parametrize("step", ["land_items", *(pytest.param(step, marks=pytest.mark.slow) for step in OTHER_STEPS)])
def test_p53_a_kill_at_any_step_is_mended_by_the_same_call(
    store: Store, landed_run: LandedRun, step: str, tmp_path: Path, warm_command: WarmCommand
) -> None:
    of = landed_run({"x": "right", "y": "left"})
    if step == "mirror_sqlite":
        store = Store(tmp_path / "store.db")
        (tmp_path / "store").rename(tmp_path / "store.store")
    code, _, said = warm_command.python(KILLED, of, store.path, step).output(timeout=120)
    assert code == -9, said
    assert len(store.unfinished()) == (step in ("land_reports", "land_items"))  # before there is nothing, after it all
    plan = plan_rescoring(RescoreRequest(run_id=of, store=store.path))
    rescore(plan)
    if store.layout.sqlite is not None:
        with closing(sqlite3.connect(store.layout.sqlite)) as mirror:
            assert mirror.execute("SELECT count(*) FROM items WHERE run_id = ?", (plan.run_id,)).fetchone() == (2,)
    assert sorted(store.run_ids()) == sorted([of, plan.run_id])
    assert store.unfinished() == []
    assert len(store.items(run_id=plan.run_id)) == 2
    assert len(store.reports(run_id=plan.run_id)) == 1


def test_one_that_was_killed_as_its_items_had_landed_is_finished_by_the_same_call(store: Store, landed_run: LandedRun) -> None:
    of = landed_run({"x": "right"})
    scored = again(of, store).run_id
    store.journal_path(scored).touch()
    assert store.unfinished() == [scored]
    again(of, store)
    assert store.unfinished() == []


def statuses(store: Store) -> dict[str, str]:
    """The current status of each task, by the view `items`."""
    rows = store.query("SELECT task_id, status FROM items").to_dict("records")
    return {row["task_id"]: row["status"] for row in rows}


@pytest.fixture
def scored_by(store: Store, landed_run: LandedRun, write_expectations: WriteExpectations) -> Callable[..., Rescoring]:
    """Scores a run of two answers, "right", by other expectations."""
    of = landed_run({"x": "right", "y": "right"})

    def scored(x: str, y: str, **options: Any) -> Rescoring:
        write_expectations(x=x, y=y)
        return again(of, store, **options)

    return scored


@pytest.mark.slow
def test_the_scoring_that_was_asked_for_last_counts_and_does_not_land_twice(
    store: Store, scored_by: Callable[..., Rescoring]
) -> None:
    first = scored_by("right", "left")
    scored_by("left", "left")
    assert statuses(store) == {"x": "fail", "y": "fail"}
    runs = store.run_ids()
    third = scored_by("right", "left")
    assert (third.landed, third.run_id, store.run_ids()) == (True, first.run_id, runs)
    assert statuses(store) == {"x": "pass", "y": "fail"}
    scored_by("left", "left")
    assert statuses(store) == {"x": "fail", "y": "fail"}


def test_a_scoring_that_counts_already_is_left_as_it_is(store: Store, scored_by: Callable[..., Rescoring]) -> None:
    plan = scored_by("right", "left")
    before = sorted(store.run_folder(plan.run_id).iterdir())
    assert scored_by("right", "left").counts
    assert sorted(store.run_folder(plan.run_id).iterdir()) == before


@pytest.mark.slow
def test_the_last_one_that_was_made_of_equal_scorings_counts_again(store: Store, scored_by: Callable[..., Rescoring]) -> None:
    scored_by("right", "left")
    forced = scored_by("right", "left", force=True)
    scored_by("left", "left")
    assert scored_by("right", "left").run_id == forced.run_id
    assert statuses(store) == {"x": "pass", "y": "fail"}


@pytest.mark.slow
def test_a_scoring_of_a_scoring_is_one_of_the_same_answers(
    store: Store, scored_by: Callable[..., Rescoring], write_expectations: WriteExpectations
) -> None:
    first = scored_by("right", "left")
    write_expectations(x="left", y="left")
    of_first = again(first.run_id, store)
    counted = "SELECT run_id, count(*) AS n FROM items GROUP BY 1"
    assert store.query(counted).to_numpy().tolist() == [[of_first.run_id, 2]]
    last = scored_by("left", "right")
    assert store.query(counted).to_numpy().tolist() == [[last.run_id, 2]]
    write_expectations(x="left", y="left")
    asked_again = again(first.run_id, store)
    assert (asked_again.landed, asked_again.run_id) == (True, of_first.run_id)
    assert store.query(counted).to_numpy().tolist() == [[of_first.run_id, 2]]
    assert plan_rescoring(RescoreRequest(run_id=first.run_id, store=store.path)).counts


@pytest.mark.slow
def test_a_scoring_that_was_asked_for_again_is_kept_as_long_as_a_new_one(
    store: Store, scored_by: Callable[..., Rescoring]
) -> None:
    first = scored_by("right", "left")
    scored_by("left", "left")
    between = datetime.now(UTC)
    scored_by("right", "left")
    assert first.run_id not in prune_items(store, before=between, keep=set()).run_ids
    assert statuses(store) == {"x": "pass", "y": "fail"}


@pytest.mark.slow
def test_a_note_that_cannot_be_read_is_named_and_verified(store: Store, scored_by: Callable[..., Rescoring]) -> None:
    first = scored_by("right", "left")
    scored_by("left", "left")
    scored_by("right", "left")
    note = store.run_folder(first.run_id) / ASKED
    note.write_text("yesterday")
    with pytest.warns(UserWarning, match=f"left out: {note}: not a moment"):
        assert statuses(store) == {"x": "fail", "y": "fail"}
    assert [(each.kind, each.path) for each in verify(store).findings] == [("manifest", str(note))]
    with pytest.warns(UserWarning, match=f"left out: {note}"):
        scored_by("right", "left")
    assert statuses(store) == {"x": "pass", "y": "fail"}
    assert verify(store).findings == []


@pytest.mark.slow
def test_what_a_statement_reads_is_another_once_another_scoring_counts(store: Store, scored_by: Callable[..., Rescoring]) -> None:
    scored_by("right", "left")
    scored_by("left", "left")
    before = state_of(store, "SELECT * FROM items")
    assert state_of(store, "SELECT * FROM items") == before
    scored_by("right", "left")
    assert state_of(store, "SELECT * FROM items") != before
