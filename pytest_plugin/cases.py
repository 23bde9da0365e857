"""The mark `eval_skills`: a test case for each task of a benchmark, one for the completion rate, one for a comparison."""

from __future__ import annotations

import json
from collections.abc import Collection, Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.errors import EvalSkillsError, UsageError
from eval_skills.pytest_plugin import NOT_COMPARED
from eval_skills.pytest_plugin.declaration import Declaration, declared
from eval_skills.pytest_plugin.evaluation import Evaluator, compared_with, failing_clearly, planned
from eval_skills.pytest_plugin.outcomes import BaselineOutcome, CompletionOutcome, SkillReport, TaskOutcome
from eval_skills.pytest_plugin.shared import evaluated_once
from eval_skills.reporting import numbers

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

COMPLETION, BASELINE = "completion", "baseline"
"""The ids of the cases that are about the completion rate, and about the comparison with the baseline."""

TASK = "task"
MISTAKE = "mark"
"""The id of the case that stands for a mark which cannot be used."""

NAME = "eval_skills_cases"
Outcome = TaskOutcome | CompletionOutcome | BaselineOutcome


@dataclass(frozen=True, slots=True)
class Case:
    """One test case: a task of the declared benchmark, or all of them: their completion rate, or how they compare."""

    declaration: Declaration
    about: str
    task_id: str | None = None


@dataclass(frozen=True, slots=True)
class Mistake:
    """What stands for the cases of a mark that cannot be used: an error of its test alone."""

    message: str


@dataclass(slots=True)
class Cases:
    """The cases of one session: which of them are left after ``-k`` and the like, and what came of their evaluations."""

    selected: dict[str, set[tuple[str, str | None]]] = field(default_factory=dict)
    reports: dict[str, SkillReport] = field(default_factory=dict)

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """A test need not name the fixture to be a case."""
        if isinstance(_param_of(item), Case | Mistake) and "eval_task" not in item.fixturenames:  # type: ignore[attr-defined]
            item.fixturenames.insert(0, "eval_task")  # type: ignore[attr-defined]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Remember what is asked: tasks that no test is left of are not evaluated, unless the completion rate needs them."""
        for item in session.items:
            if (case := case_of(item)) is not None:
                self.selected.setdefault(case.declaration.key, set()).add((case.about, case.task_id))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        """Let the test's own body run, which may ask for more, and judge the case after it, by what the outcome was before: what
        the body raises counts also where the case would be an expected failure.
        """
        if (case := case_of(pyfuncitem)) is None:
            return (yield)
        if (report := self.reports.get(case.declaration.key)) is None:
            pytest.fail("mark eval_skills: a fixture called eval_task takes the place of the plugin's; rename it", pytrace=False)
        outcome = outcome_in(pyfuncitem.config, case, report)
        problem, enough = "" if outcome.passed else outcome.explanation, self._enough(case, outcome)
        try:
            done = yield
        except BaseException as error:
            if problem:
                error.add_note(problem)
            raise
        if problem and enough:
            pytest.xfail(f"{enough}\n{problem}")
        if problem:
            pytest.fail(problem, pytrace=False)
        return done

    def _enough(self, case: Case, outcome: Outcome) -> str | None:
        """In words, that the completion rate holds, so that the task need not pass; None where it must, or has no result."""
        floor, rate = case.declaration.min_completion, outcome.report.summary.completion_rate
        if floor is None or not isinstance(outcome, TaskOutcome) or not self.is_gated(case):
            return None
        if outcome.may_have_called_one or outcome.is_open or not outcome.results:
            return None
        if not CompletionOutcome(min_completion=floor, report=outcome.report).is_enough:
            return None
        return f"completion {numbers.rate(rate)} is enough, {numbers.rate(floor)} is asked for"

    def is_gated(self, case: Case) -> bool:
        """Whether the completion rate is judged as well, so that a single task need not pass."""
        return (COMPLETION, None) in self.selected[case.declaration.key]

    def asked_tasks(self, case: Case) -> list[str]:
        """The tasks to evaluate; empty for all of them."""
        tasks = [task for _, task in self.selected[case.declaration.key]]
        return [] if None in tasks else sorted(task for task in tasks if task is not None)

    def refuse_figures_only(self, case: Case, planned: int) -> None:
        """Refuse an evaluation of so many items that its report would not list them, where a case asks for more than the rate.

        Raises:
            UsageError: that is so; nothing has been called.
        """
        from eval_skills.core.models.report import MAX_DETAILED_ITEMS

        if planned > MAX_DETAILED_ITEMS and self.selected[case.declaration.key] != {(COMPLETION, None)}:
            raise UsageError(
                f"{planned:,} items are more than the {MAX_DETAILED_ITEMS:,} that a report lists one by one, as the cases of "
                f"tasks need it; ask fewer tasks or runs, or select the case {COMPLETION} alone"
            )


def parametrize(metafunc: pytest.Metafunc, mark: pytest.Mark, mistake: str | None = None) -> None:
    """Make the cases of a marked function. What the mark asks for is checked here; of a mistake one case is made, which is an
    error when it runs, so that the other tests of the session go on. `mistake` is one that was found before.
    """
    config = metafunc.config
    try:
        cases = [pytest.param(Mistake(mistake), id=MISTAKE)] if mistake else _cases(config, mark)
    except (EvalSkillsError, OSError, ValueError) as error:  # the latter two: a text that cannot be a path
        cases = [pytest.param(Mistake(f"mark eval_skills: {error}"), id=MISTAKE)]
    if config.pluginmanager.get_plugin(NAME) is None:
        config.pluginmanager.register(Cases(), NAME)
    if "eval_task" not in metafunc.fixturenames:
        metafunc.fixturenames.append("eval_task")
    metafunc.parametrize("eval_task", cases, indirect=True)


def _cases(config: pytest.Config, mark: pytest.Mark) -> list[ParameterSet]:
    declaration = declared(mark)
    plan = planned(config, declaration.skill, declaration.options)
    tasks = [task.id for task in plan.benchmark.tasks]
    cases = [pytest.param(Case(declaration, TASK, task), id=_id_of(task, tasks)) for task in tasks]
    asked = {COMPLETION: declaration.min_completion, BASELINE: declaration.baseline}
    return [*cases, *(pytest.param(Case(declaration, about), id=about) for about, wanted in asked.items() if wanted is not None)]


def _id_of(task: str, tasks: Collection[str]) -> str:
    """The task's own id, unless a case that is about all tasks is called so; no other task's."""
    name = task
    while name in {COMPLETION, BASELINE} or (name != task and name in tasks):
        name = f"{TASK}-{name}"
    return name


def case_of(item: pytest.Item) -> Case | None:
    """The case that a test stands for; None where it has no mark."""
    found = _param_of(item)
    return found if isinstance(found, Case) else None


def _param_of(item: pytest.Item) -> Any:
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("eval_task") if callspec is not None else None


def outcome_of(request: pytest.FixtureRequest, folders: pytest.TempPathFactory) -> Outcome:
    """The results that the running test is about, evaluated when the first test of its declaration asks for them."""
    if isinstance(mistake := _param_of(request.node), Mistake):
        pytest.fail(mistake.message, pytrace=False)
    case, cases = case_of(request.node), request.config.pluginmanager.get_plugin(NAME)
    if case is None or cases is None:
        pytest.fail("the fixture eval_task is for tests with @pytest.mark.eval_skills(...); others use eval_skill", pytrace=False)
    key = case.declaration.key
    if key not in cases.reports:
        cases.reports[key] = failing_clearly("mark eval_skills", lambda: _evaluated(request.node, folders, case, cases))
    report: SkillReport = cases.reports[key]
    outcome = outcome_in(request.config, case, report)
    _record(request.node, case, outcome)
    return outcome


def _evaluated(item: pytest.Item, folders: pytest.TempPathFactory, case: Case, cases: Cases) -> SkillReport:
    config, declaration, tasks = item.config, case.declaration, cases.asked_tasks(case)

    def evaluate() -> SkillReport:
        options = {**declaration.options, **({"task_ids": tasks} if tasks else {})}
        plan = planned(config, declaration.skill, options)
        cases.refuse_figures_only(case, plan.planned)
        return Evaluator(config, folders).run(plan)

    return evaluated_once(item, folders, json.dumps([declaration.key, tasks]), evaluate)


def outcome_in(config: pytest.Config, case: Case, report: SkillReport) -> Outcome:
    """How the case came out in the report."""
    declaration = case.declaration
    if case.about == BASELINE and declaration.baseline is not None:
        against, margin, store = declaration.baseline, declaration.margin, declaration.options.get("store")
        return failing_clearly("mark eval_skills", lambda: compared_with(config, against, margin, store, report))
    if case.task_id is None:
        return CompletionOutcome(min_completion=declaration.min_completion or 0.0, report=report)
    return TaskOutcome(case.task_id, [result for result in report.task_results if result.task_id == case.task_id], report)


def _record(item: pytest.Item, case: Case, outcome: Outcome) -> None:
    """What JUnit shows as properties of the case, and what pytest shows beside its captured output."""
    report = outcome.report
    known: dict[str, Any] = {"skill": report.skill_key, "benchmark": report.benchmark_id}
    if case.about == COMPLETION:
        known |= {"completion_rate": report.summary.completion_rate, "min_completion": case.declaration.min_completion}
    elif isinstance(outcome, BaselineOutcome):
        known |= {"baseline": outcome.baseline, "margin": case.declaration.margin}
        if outcome.not_compared:
            known[NOT_COMPARED] = outcome.not_compared
            item.add_report_section("call", "eval-skills", outcome.not_compared)
    else:
        results = outcome.results
        known |= {"runs": len(results), "passed": sum(result.passed for result in results)}
        known |= {"status": " ".join(result.status for result in results)}
    item.user_properties.extend(known.items())
