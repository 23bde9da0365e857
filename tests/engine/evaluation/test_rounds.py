"""A run that grows until it is decided: when it ends, what it leaves out, and that it goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.diff.diff import diff_reports
from eval_skills.core.diff.until import at_last_looks, levels_of_looks
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import ItemResult
from eval_skills.core.store import Journal, land, write_manifest
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.plan import Item, RunPlan, make_plan
from eval_skills.engine.evaluation.resume import resumed_plan
from eval_skills.engine.evaluation.rounds import Rounds, record_decisions
from eval_skills.engine.evaluation.session import manifest_of
from eval_skills.engine.stored_runs.reports import read_source

if TYPE_CHECKING:
    from tests.engine.evaluations import MakeRequest

TASKS = tuple(f"t{number}" for number in range(12))
Answer = Callable[[Item], str]
Grow = Callable[..., RunPlan]


def all_pass(_: Item) -> str:
    return "pass"


def all_fail(_: Item) -> str:
    return "fail"


def record(plan: RunPlan, items: Sequence[Item], status: Answer) -> None:
    with Journal(plan.store.journal_path(plan.run_id)) as journal:
        for item in items:
            journal.append(_result(plan, item, status(item)))


def _result(plan: RunPlan, item: Item, status: Any) -> ItemResult:
    skill_id, _, version = item.skill.partition("@")
    return ItemResult(
        run_id=plan.run_id,
        started_at=datetime.now(UTC),
        skill_id=skill_id,
        skill_version=version,
        benchmark_id=plan.benchmark.id,
        benchmark_version=plan.benchmark.version,
        task_id=item.task,
        task_digest=plan.digests[f"task/{item.task}"],
        run_index=item.run,
        status=status,
        passed=status == "pass",
        error_kind="infra" if status == "error" else None,
        error_message="the service is down" if status == "error" else None,
        score=None if status == "error" else float(status == "pass"),
    )


@pytest.fixture
def before(make_request: MakeRequest) -> str:
    """A landed run of three runs of each task, all of which passed."""
    plan = make_plan(make_request(*TASKS, runs=3))
    write_manifest(plan.store.run_folder(plan.run_id), manifest_of(plan), secrets={})
    record(plan, plan.items, all_pass)
    land(plan.store, plan.run_id)
    return plan.run_id


@pytest.fixture
def begin(make_request: MakeRequest, before: str) -> Grow:
    """Begins a run that grows until it is decided against the landed one."""

    def start(**fields: Any) -> RunPlan:
        plan = make_plan(make_request(*TASKS, **{"until": "decided", "against": before, **fields}))
        write_manifest(plan.store.run_folder(plan.run_id), manifest_of(plan), secrets={})
        return plan

    return start


def grown(plan: RunPlan, status: Answer) -> tuple[RunPlan, list[int]]:
    """The plan as it turned out, and how many items each round had."""
    rounds, sizes = Rounds(plan), []
    while items := rounds.next():
        record(plan, items, status)
        sizes.append(len(items))
    return rounds.settled(), sizes


@pytest.mark.slow
def test_what_is_worse_is_not_run_to_the_end(begin: Grow) -> None:
    plan = begin()
    settled, sizes = grown(plan, all_fail)
    (decision,) = settled.decisions
    assert (decision.verdict, decision.runs, decision.max_runs) == ("worse", 2, 10)
    assert sizes == [12, 12]
    assert decision.level == pytest.approx(levels_of_looks(1, 10, 3.0, 1)[2])
    assert "worse than" in decision.line
    assert "stopped early after 2 of at most 10 runs" in decision.line


@pytest.mark.slow
def test_what_is_not_decided_ends_with_the_last_run(begin: Grow) -> None:
    settled, sizes = grown(begin(max_runs=3), lambda item: "fail" if item.task == "t0" else "pass")
    (decision,) = settled.decisions
    assert (decision.verdict, decision.runs, sizes) == ("inconclusive", 3, [12, 12, 12])
    assert "not decided after 3 of at most 3 runs" in decision.line


@pytest.mark.slow
def test_an_outage_decides_nothing(begin: Grow) -> None:
    settled, sizes = grown(begin(max_runs=4), lambda item: "error")
    assert settled.decisions[0].verdict == "inconclusive"
    assert len(sizes) == 4


@pytest.mark.slow
def test_the_first_look_comes_after_so_many_runs(begin: Grow) -> None:
    settled, sizes = grown(begin(runs=4), all_fail)
    assert sizes == [48]
    assert settled.decisions[0].runs == 4


@pytest.mark.slow
def test_it_goes_on_where_it_was(begin: Grow, before: str) -> None:
    """Killed in the middle of its second round, it ends as it would have."""
    plan = begin()
    rounds = Rounds(plan)
    record(plan, rounds.next(), all_fail)
    record(plan, rounds.next()[:5], all_fail)
    again = resumed_plan(EvaluateRequest(store=plan.request.store, resume=plan.run_id))
    assert again.baseline is not None
    assert again.baseline.name == before
    settled, sizes = grown(again, all_fail)
    assert sizes == [7]
    assert settled.decisions[0].runs == 2
    assert settled.planned == 24


@pytest.mark.slow
def test_a_landed_one_has_all_that_it_needs_and_says_why(begin: Grow) -> None:
    plan = begin()
    settled, _ = grown(plan, all_fail)
    record_decisions(settled)
    land(plan.store, plan.run_id)
    source = read_source(plan.run_id, plan.request.store)
    assert plan.store.manifest(plan.run_id).planned_items == 24
    assert source.context.partial is None
    assert source.decisions == settled.decisions
    assert source.context.notes == (settled.decisions[0].line,)


@pytest.mark.slow
def test_several_skills_share_the_level(begin: Grow) -> None:
    plan = begin()
    (levels,) = plan.baseline.levels.values()  # type: ignore[union-attr]
    assert levels == levels_of_looks(1, 10, 3.0, 1)
    assert all(half < whole for half, whole in zip(levels_of_looks(1, 10, 3.0, 2).values(), levels.values(), strict=True))


@pytest.mark.slow
def test_a_report_file_is_as_good_as_a_run(begin: Grow, before: str, tmp_path: Path) -> None:
    store = begin().request.store
    file = tmp_path / "main.json"
    file.write_text(json.dumps([report.to_json() for report in read_source(before, store).reports]))
    settled, _ = grown(begin(against=str(file)), all_fail)
    assert settled.decisions[0].against == str(file)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"against": None}, "needs what to compare with"),
        ({"max_runs": 101}, "100"),
        ({"max_runs": 3, "runs": 4}, "at most --max-runs"),
        ({"until": None}, "add --until decided"),
        ({"until": "tomorrow"}, "decided"),
    ],
)
def test_what_cannot_be_decided_is_refused(begin: Grow, fields: dict[str, Any], message: str) -> None:
    with pytest.raises((UsageError, InputError, ValueError), match=message):
        begin(**fields)


@pytest.mark.slow
def test_a_baseline_without_the_skill_or_its_tasks_is_refused(begin: Grow, before: str, tmp_path: Path) -> None:
    reports = read_source(before, begin().request.store).reports
    other, changed = tmp_path / "other.json", tmp_path / "changed.json"
    other.write_text(json.dumps([report.model_copy(update={"skill_id": "someone"}).to_json() for report in reports]))
    for report in reports:
        results = [result.model_copy(update={"task_digest": "0" * 64}) for result in report.task_results]
        changed.write_text(json.dumps([report.model_copy(update={"task_results": results}).to_json()]))
    with pytest.raises(UsageError, match=r"holds no report of moody on .* it holds someone@1\.0\.0"):
        begin(against=str(other))
    with pytest.raises(UsageError, match="ran none of today's tasks there"):
        begin(against=str(changed))


def test_without_a_baseline_there_is_one_round(make_request: MakeRequest) -> None:
    plan = make_plan(make_request("t0", "t1", runs=2))
    rounds = Rounds(plan)
    assert (rounds.next(), rounds.next()) == (plan.items, [])
    assert rounds.settled() == replace(plan, decisions=[])


@pytest.mark.slow
def test_a_comparison_with_what_it_grew_against_says_what_its_last_looks_said(begin: Grow) -> None:
    """Also where skills were decided at different looks: each has the level of its own."""
    plan = begin()
    settled, _ = grown(plan, all_fail)
    record_decisions(settled)
    land(plan.store, plan.run_id)
    (decision,) = settled.decisions
    after = read_source(plan.run_id, plan.request.store).reports
    before = read_source(decision.against, plan.request.store).reports
    plain = diff_reports(before, after)
    (same,) = at_last_looks(plain, before, after, [decision]).skills
    assert (same.verdict, same.explanation) == (decision.verdict, decision.explanation)
    strict = decision.model_copy(update={"level": 1e-5})
    assert at_last_looks(plain, before, after, [strict]).skills[0].verdict == "inconclusive"
    assert at_last_looks(plain, before, after, []) == plain
