"""Evaluating skills from Python: in this process, or with Prefect."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, Unpack

from eval_skills.adapters.python.object_skill import ObjectSkill
from eval_skills.api.evaluators import OwnEvaluators
from eval_skills.api.inputs import SkillLike, TasksLike, read_skills, read_tasks
from eval_skills.api.options import (
    EvaluateOptions,
    check_resume,
    evaluate_request,
    in_python,
    python_words,
    refuse_without_prefect,
    store_path,
)
from eval_skills.api.result import EvaluationResult
from eval_skills.core.config.values import LOCAL
from eval_skills.core.errors import UsageError
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.store import Store
from eval_skills.core.store.files import short_lived_folder
from eval_skills.core.text import plural
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.asyncio_support import run_on_own_loop
from eval_skills.engine.evaluation.in_process import evaluate_here
from eval_skills.engine.evaluation.plan import RunPlan, plan_for
from eval_skills.engine.evaluation.summary import RunSummary
from eval_skills.engine.handover import HeldInMemory, holding
from eval_skills.engine.judging.outcome import have_again, judge_rest
from eval_skills.reporting.lines import unknown_calls


def evaluate(
    skills: SkillLike | Iterable[SkillLike] | Mapping[str, SkillLike],
    tasks: TasksLike,
    *,
    store: str | os.PathLike[str] | Store | None = None,
    prefect: bool = False,
    verbose: bool = False,
    **options: Unpack[EvaluateOptions],
) -> EvaluationResult:
    """Let every skill answer every task, and score the answers; what a skill does wrong is in the result, and never raised.

    `skills` are functions, coroutine functions, LangChain runnables, `Skill`s and paths: one, several, or by name in a dict.
    `tasks` are dicts, `EvalTask`s, a DataFrame, a `Benchmark`, its id, or a path. With `store` the run is kept there, and goes on
    with `resume` if it is interrupted; without one nothing is kept on disk. `prefect` runs it as a Prefect flow, silently unless
    `verbose`.

    It works where an event loop runs, too, as in a notebook: coroutine functions are called on a loop of another thread. To have
    them called on your own loop, await `aevaluate`.

    Raises:
        UserError: a skill, a task, an option or their combination cannot be used; nothing has been called.
        RunError: the run could not finish.
    """
    if prefect and not _loop_runs():  # in the caller's thread, where Ctrl-C reaches the flow
        with python_words(), _asked(skills, tasks, store, options, prefect=True) as asked:
            return asked.result(_with_prefect(asked, verbose=verbose))
    return run_on_own_loop(aevaluate(skills, tasks, store=store, prefect=prefect, verbose=verbose, **options))


async def aevaluate(
    skills: SkillLike | Iterable[SkillLike] | Mapping[str, SkillLike],
    tasks: TasksLike,
    *,
    store: str | os.PathLike[str] | Store | None = None,
    prefect: bool = False,
    verbose: bool = False,
    **options: Unpack[EvaluateOptions],
) -> EvaluationResult:
    """`evaluate` on the running event loop, where it calls coroutine functions, too; other functions are called in threads."""
    with python_words(), await asyncio.to_thread(_asked, skills, tasks, store, options, prefect=prefect) as asked:
        if prefect:
            return asked.result(await asyncio.to_thread(_with_prefect, asked, verbose=verbose))
        return asked.result(await evaluate_here(await asyncio.to_thread(asked.plan)))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A call, checked as far as that goes without its skills; while entered, its store is there and its evaluators known."""

    request: EvaluateRequest
    held: HeldInMemory
    own: OwnEvaluators
    is_kept: bool
    _open: ExitStack

    def plan(self) -> RunPlan:
        """The checked plan of its run."""
        with holding(self.held):
            return plan_for(self.request)

    def result(self, summary: RunSummary) -> EvaluationResult:
        """What a caller gets of the run, with its reports in the order of its skills."""
        order = [skill.key for skill in summary.skills]
        decided, unknown = (each.line for each in summary.decisions), map(unknown_calls, summary.with_unknown_calls)
        remarks = [*summary.remarks, *decided, *(self._from_python(line, summary) for line in summary.judging), *unknown]
        reports: Sequence[SkillCompletionReport] = summary.reports
        if summary.is_partial:
            from eval_skills.reporting.json_report import ReportedRun, of_run

            run = ReportedRun(run_id=summary.run_id, finished_items=summary.finished, planned_items=summary.planned)
            reports = of_run(reports, run)
            early = f"the run stopped early: {summary.finished:,} of {plural(summary.planned, 'item')}"
            remarks.append(summary.stop_line or early)
        return EvaluationResult(
            reports=sorted(reports, key=lambda report: order.index(report.skill_key)),
            run_id=summary.run_id,
            store=self.request.store if self.is_kept else None,
            remarks=[in_python(each) for each in remarks],
            stopped=None if summary.stop_line is None else in_python(summary.stop_line),
            planned=summary.planned if summary.is_partial else None,
        )

    def _from_python(self, line: str, summary: RunSummary) -> str:
        """A line on judging with what a Python caller can do in place of a command: that has neither the objects of this process
        nor, without `store`, anything of the run."""
        again = f'have them again with the same call and resume="{summary.run_id}", retry_errors=True'
        rest = judge_rest(summary.run_id, summary.store)
        if not self.is_kept:
            again = "give store=, so that resume= with retry_errors=True can have them again"
            line = line.replace(rest, "with a higher max_judge_cost; give store=, so that no skill is called again for it")
        return line.replace(have_again(summary.run_id, summary.store), again)

    def __enter__(self) -> Self:
        self._open.enter_context(self.own.known())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._open.close()


def _asked(skills: Any, tasks: Any, store: Any, options: Mapping[str, Any], *, prefect: bool) -> _Asked:
    if not prefect:
        refuse_without_prefect(options)
    check_resume(options, store)
    own = OwnEvaluators()
    options = own.in_options(options)
    request = evaluate_request(options, format=[])
    found, named = read_skills(skills, request.max_output_bytes)
    with own.known():
        asked = read_tasks(tasks, request.evaluator, own)
    here = next((skill for skill in found.skills if isinstance(skill, ObjectSkill)), None)
    if here is not None and request.task_runner != LOCAL:
        raise UsageError(f"{here.id} is an object of this process, and task_runner {request.task_runner} calls skills in others")
    own.refuse_elsewhere(request.task_runner)
    held = HeldInMemory(found, asked.benchmark)
    places = {"benchmark": asked.benchmark.id} if asked.benchmark else asked.fields
    with ExitStack() as opened:
        place = opened.enter_context(short_lived_folder()) if store is None else store_path(store)
        placed = evaluate_request(options, format=[], skills=named, store=place, **places)
        unused = {"output_dir": str(Store(placed.store).layout.root)}  # of reports: none are written, and it must be writable
        return _Asked(placed.model_copy(update=unused), held, own, store is not None, opened.pop_all())


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _with_prefect(asked: _Asked, *, verbose: bool) -> RunSummary:
    asked.plan()  # what is wrong with the call is said before a server is started for it
    from eval_skills.api.prefect_run import run_with_prefect

    with holding(asked.held):
        return run_with_prefect(asked.request, verbose=verbose)
