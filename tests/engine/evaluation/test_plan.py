"""What a run will do is known and checked before anything is called or written."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import SkillResponse
from eval_skills.core.store import started_at
from eval_skills.engine.evaluation.plan import Item, make_plan
from eval_skills.scorers import scorer
from eval_skills.scorers.registry import _entries

if TYPE_CHECKING:
    from tests.engine.evaluations import MakePlan, MakeRequest


def test_items_are_skills_times_tasks_times_runs_run_by_run(
    make_plan_of: MakePlan, write_skill: Callable[..., Path], tmp_path: Path
) -> None:
    write_skill("a"), write_skill("b")
    plan = make_plan_of("x", "y", skills=[str(tmp_path / "skills")], runs=2)
    assert [str(item) for item in plan.items] == [
        f"{skill}@1.0.0/{task}#{run}" for run in (1, 2) for task in ("x", "y") for skill in ("a", "b")
    ]
    assert (plan.planned, plan.finished) == (8, 0)


def test_planning_writes_nothing(make_plan_of: MakePlan, tmp_path: Path) -> None:
    make_plan_of()
    assert not (tmp_path / "store").exists()


def test_an_item_has_the_key_of_its_result_and_a_name_that_counts_from_one() -> None:
    item = Item("adder@1.0.0", "sum", 0)
    assert (item.key, str(item)) == (("adder@1.0.0", "sum", 0), "adder@1.0.0/sum#1")


def test_narrowing_keeps_what_is_planned(make_plan_of: MakePlan) -> None:
    plan = make_plan_of("x", "y", "z")
    rest = plan.narrowed(plan.items[2:])
    assert (rest.planned, rest.finished, [item.task for item in rest.items]) == (3, 2, ["z"])
    again = rest.narrowed([])
    assert (again.planned, again.finished) == (3, 3)


@pytest.mark.parametrize(
    ("own", "expected_s"), [pytest.param({}, 7.0, id="the-run's"), pytest.param({"timeoutMs": 250}, 0.25, id="the-task's-own")]
)
def test_p17_a_task_s_own_time_limit_wins_over_the_run_s(
    make_request: MakeRequest, write_tasks: Callable[..., str], own: dict[str, int], expected_s: float
) -> None:
    plan = make_plan(make_request(tasks=write_tasks("ok", **own), timeout_ms=7000))
    assert plan.timeout_s(plan.benchmark.tasks[0]) == expected_s


def test_p55_the_digests_change_with_what_they_stand_for(
    make_request: MakeRequest, write_tasks: Callable[..., str], tmp_path: Path
) -> None:
    request = make_request("ok", "two")
    before = make_plan(request).digests
    assert make_plan(request).digests == before
    write_tasks("ok", "two", weight=2)
    (tmp_path / "skills" / "moody" / "more.py").write_text("x = 1")
    after = make_plan(request).digests
    assert {name for name in before if before[name] != after[name]} == {"moody@1.0.0", "benchmark", "task/ok", "task/two"}


def test_secrets_are_the_named_variables_that_are_set(make_plan_of: MakePlan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "s3cret")
    monkeypatch.delenv("NOT_SET", raising=False)
    assert make_plan_of(secrets=["MY_TOKEN", "NOT_SET"]).secrets() == {"MY_TOKEN": "s3cret"}


class TestRefusals:
    def test_p40_no_skill_at_all(self, make_request: MakeRequest) -> None:
        request = make_request().model_copy(update={"skills": []})
        with pytest.raises(UsageError, match="no skill to evaluate: none was given"):
            make_plan(request)

    def test_p40_only_skills_that_cannot_be_called_each_with_its_reason(
        self, make_request: MakeRequest, write_skill: Callable[..., Path], tmp_path: Path
    ) -> None:
        write_skill("quoted", entrypoint="python 'skill.py")
        with pytest.raises(UsageError, match=r"no skill to evaluate: .*quoted.*cannot be split into words"):
            make_plan(make_request(skills=[str(tmp_path / "skills")]))

    def test_p47_one_that_cannot_be_called_is_a_remark_beside_its_neighbours(
        self, make_plan_of: MakePlan, write_skill: Callable[..., Path], tmp_path: Path
    ) -> None:
        write_skill("good"), write_skill("quoted", entrypoint="python 'skill.py")
        plan = make_plan_of(skills=[str(tmp_path / "skills")])
        assert list(plan.skills) == ["good@1.0.0"]
        [remark] = plan.remarks
        assert remark.startswith(f"skipped {tmp_path / 'skills' / 'quoted'}")

    def test_p47_one_that_was_named_must_be_callable(self, make_plan_of: MakePlan, write_skill: Callable[..., Path]) -> None:
        bad = write_skill("quoted", entrypoint="python 'skill.py")
        with pytest.raises(InputError, match="cannot be split into words"):
            make_plan_of(skills=[str(bad)])

    def test_p32_two_folders_with_one_identity(self, make_plan_of: MakePlan, write_skill: Callable[..., Path]) -> None:
        first, second = write_skill("one"), write_skill("two")
        data = json.loads((second / "skill.json").read_text())
        (second / "skill.json").write_text(json.dumps(data | {"id": "one"}))
        with pytest.raises(UsageError, match="two folders"):
            make_plan_of(skills=[str(first), str(second)])

    def test_a_tag_that_no_task_has(self, make_plan_of: MakePlan) -> None:
        with pytest.raises(InputError, match="has the tag nope"):
            make_plan_of(task_tags=["nope"])


def test_a_benchmark_that_inspects_folders_takes_skills_that_cannot_be_called(
    make_request: MakeRequest, write_skill: Callable[..., Path]
) -> None:
    named = write_skill("quoted", entrypoint="python 'skill.py")
    request = make_request(skills=[str(named)]).model_copy(update={"tasks": None, "benchmark": "skill-quality"})
    plan = make_plan(request)
    assert plan.benchmark.subject == "package"
    assert list(plan.skills) == ["quoted@1.0.0"]


class TestDate:
    AT = datetime(2025, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC)

    def test_a_run_that_is_dated_has_its_id_and_its_moments_from_that_date(self, make_plan_of: MakePlan) -> None:
        plan = make_plan_of(at=self.AT)
        assert plan.run_id.startswith("20250301T120000Z-")
        assert plan.dated(plan.began + timedelta(seconds=3)) == self.AT + timedelta(seconds=3)

    def test_any_other_run_has_the_real_moments(self, make_plan_of: MakePlan) -> None:
        plan = make_plan_of()
        assert plan.dated(self.AT) == self.AT
        assert started_at(plan.run_id) <= datetime.now(UTC)


def test_a_secret_that_is_not_replaced_is_told_before_the_run(make_plan_of: MakePlan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHORT_PIN", "q7z")
    remarks = make_plan_of(secrets=["SHORT_PIN"]).remarks
    assert [remark for remark in remarks if "SHORT_PIN" in remark and "q7z" not in remark and "is not redacted" in remark]
    monkeypatch.setenv("SHORT_PIN", "q7zz")
    assert not [remark for remark in make_plan_of(secrets=["SHORT_PIN"]).remarks if "SHORT_PIN" in remark]


def test_the_scorer_of_each_task_is_built_once(
    make_request: MakeRequest, write_tasks: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval_skills.scorers.registry._entries", dict(_entries))
    built = []

    @scorer("counted")
    class Counted:
        def __init__(self, value: str) -> None:
            built.append(value)

        def score(self, response: SkillResponse) -> float:
            return 1.0

    expected = {"expectedOutput": {"type": "counted", "value": "ok"}}
    plan = make_plan(make_request(tasks=write_tasks("x", "y", "z", **expected), task_ids=["x", "z"]))
    assert list(plan.scorings) == ["x", "z"]
    assert len(built) == 3  # once for each task of the file: those that are not selected are checked, too


def test_a_benchmark_about_agent_skills_needs_no_skill_json(tmp_path: Path, make_request: MakeRequest) -> None:
    for name, text in {"pdf": "---\nname: pdf\ndescription: d\nmetadata:\n  version: 2.1\n---\n", "dead": "nothing"}.items():
        (tmp_path / "texts" / name).mkdir(parents=True)
        (tmp_path / "texts" / name / "SKILL.md").write_text(text)
    asked = {"tasks": None, "benchmark": "agent-skill-package"}
    plan = make_plan(make_request(skills=[str(tmp_path / "texts")]).model_copy(update=asked))
    assert (list(plan.skills), len(plan.items), plan.benchmark.subject) == (["dead@0.0.0", "pdf@2.1.0"], 4, "agent-skill")
    with pytest.raises(InputError, match=r"no skill\.json"):
        make_plan(make_request(skills=[str(tmp_path / "texts")]))
