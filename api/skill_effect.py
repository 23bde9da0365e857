"""What an Agent Skill changes, from Python."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from eval_skills.api.evaluators import OwnEvaluators
from eval_skills.api.inputs import TasksLike, read_tasks
from eval_skills.api.options import (
    EvaluateOptions,
    as_read,
    check_resume,
    evaluate_request,
    in_python,
    path_given,
    python_words,
    refuse_without_prefect,
    store_path,
)
from eval_skills.api.result import EvaluationResult, write_by_ending
from eval_skills.core.diff.model import Judgement
from eval_skills.core.documents.loading import from_home, validate_options
from eval_skills.core.errors import RunError, UsageError
from eval_skills.core.models import Benchmark, SkillCompletionReport
from eval_skills.core.models.base import Model, Text
from eval_skills.core.skill_effect.model import Arm, ArmComparison, ArmFigures, SkillEffect, TaskEffect
from eval_skills.core.skills import load_skills
from eval_skills.core.store import Store
from eval_skills.core.store.files import short_lived_folder
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.plan import plan_for
from eval_skills.engine.evaluation.summary import RunSummary
from eval_skills.engine.handover import HeldInMemory, holding
from eval_skills.engine.skill_effect.arms import Agent, Arms, arms_asked
from eval_skills.engine.skill_effect.experiment import arms_folder, effect_of_reports, experiment, experiment_of

if TYPE_CHECKING:
    import pandas as pd

OF_ONE_SKILL = ("until", "against", "max_runs")
"""Options that ask one skill more often than another; arms are asked equally often."""


@dataclass(frozen=True)
class EffectResult:
    """What an Agent Skill changes. In a notebook it shows itself as tables; as text it gives every verdict with its reason.

    `effect` is all of it as data, `evaluation` the run behind it, in which each arm is a skill.
    """

    effect: SkillEffect
    evaluation: EvaluationResult

    @property
    def arms(self) -> dict[Arm, ArmFigures]:
        """The figures of each arm, ``with`` first."""
        return {each.arm: each for each in self.effect.arms}

    @property
    def comparisons(self) -> dict[Arm, ArmComparison]:
        """``with`` beside each other arm: statistics, figures that were tested, the tasks that moved."""
        return {each.against: each for each in self.effect.comparisons}

    @property
    def verdicts(self) -> dict[Arm, Judgement | None]:
        """How ``with`` does against each other arm; None where it could not be compared, and where the set-up was wrong."""
        is_believed = not self.problems
        return {
            arm: each.diff.verdict if is_believed and each.diff.statistics else None for arm, each in self.comparisons.items()
        }

    @property
    def gains(self) -> dict[Arm, float | None]:
        """The share of what each other arm left to win, in (−∞, 1]; None where nothing was left, or a rate is unknown."""
        return {arm: each.gain for arm, each in self.comparisons.items()}

    @property
    def worse(self) -> dict[Arm, list[TaskEffect]]:
        """The tasks that fewer runs passed with the Agent Skill than in each other arm, the largest loss first."""
        return {arm: self.effect.worse(arm) for arm in self.comparisons}

    @property
    def problems(self) -> list[str]:
        """Errors of the set-up; with one of them no difference may be believed."""
        return [in_python(each) for each in self.effect.problems]

    @property
    def remarks(self) -> list[str]:
        """Warnings that stopped nothing."""
        return [in_python(each) for each in (*self.evaluation.remarks, *self.effect.remarks)]

    @property
    def reports(self) -> list[SkillCompletionReport]:
        """The report of each arm."""
        return self.evaluation.reports

    @property
    def run_id(self) -> str:
        """The name of the run in its store."""
        return self.evaluation.run_id

    def to_pandas(self) -> pd.DataFrame:
        """The items, one row each: `arm`, and the columns of `EvaluationResult.to_pandas`. Raises as that does."""
        frame = self.evaluation.to_pandas()
        by_key = {each.skill_key: each.arm for each in self.effect.arms}
        frame.insert(0, "arm", frame["skill"].map(by_key))
        return frame

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it as a report: JSON, Markdown, an HTML page or JUnit, by the ending ``.json``, ``.md``, ``.html`` or ``.xml``.

        Raises:
            UsageError: it is another ending, or the file cannot be written.
        """
        from eval_skills.reporting.skill_effect.document import EFFECT_FORMATS

        content = {each.extension: partial(each.render, self.effect) for each in EFFECT_FORMATS.values()}
        return write_by_ending(path, content, "an effect")

    def __str__(self) -> str:
        from eval_skills.reporting.escape import visible_line
        from eval_skills.reporting.skill_effect.figures import text_lines

        said = [*self.remarks, *(f"set-up error: {each}" for each in self.problems)]
        return "\n".join([*text_lines(self.effect), *map(visible_line, said)])

    def __repr__(self) -> str:
        shown = ", ".join(f"{verdict or 'no verdict'} than {arm}" for arm, verdict in self.verdicts.items())
        return f"<EffectResult: {', '.join(self.effect.names)} on {self.effect.agent}: {shown}>"

    def _repr_html_(self) -> str:
        from eval_skills.reporting.notebook import effect_table

        return effect_table(self.effect, self.remarks)


def skill_effect(
    skills: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    agent: str = "builtin",
    model: str | None = None,
    agent_config: Mapping[str, Any] | None = None,
    tasks: TasksLike | None = None,
    arms: Iterable[Arm] | None = None,
    old: str | os.PathLike[str] | None = None,
    store: str | os.PathLike[str] | Store | None = None,
    prefect: bool = False,
    verbose: bool = False,
    **options: Unpack[EvaluateOptions],
) -> EffectResult:
    """Ask an agent the same tasks with the Agent Skills `skills` and without, and test the difference.

    `skills` are folders with a ``SKILL.md``; several are installed together. `agent` is ``builtin``, ``opencode``, ``codex``,
    ``gemini``, ``claude-code`` or ``custom``, `model` what it is to use, and `agent_config` more of its `adapterConfig`, such as
    ``{"apiKeyEnv": "OPENAI_API_KEY"}``. `tasks` are those of `evaluate`, by default those of the ``evals/evals.json`` of the
    first Agent Skill that has one. `arms` are ``with`` and others (by default ``without``), `old` is an earlier version: a git
    revision, or a folder. `store`, `prefect`, `verbose` and the options are those of `evaluate`, but for `until`, `against` and
    `max_runs`. It works where an event loop runs, too.

    Raises:
        UserError: an Agent Skill, a task, an arm or an option cannot be used; nothing has been called.
        RunError: the run could not finish.
    """
    sources = _sources(skills)
    given = {"agent": agent, "model": model, "agent_config": agent_config, "arms": arms}
    called = validate_options(_Agent, {name: _as_read(value) for name, value in given.items()})
    earlier = None if old is None else path_given(old, "old", "give a git revision such as HEAD~1, or a folder")
    _refuse(options, prefect=prefect)
    check_resume(options, store)
    chosen = arms_asked(called.arms, earlier, option="arms")
    asked = Agent(runtime=called.agent, model=called.model, config=called.agent_config or {})
    own = OwnEvaluators()
    with python_words(), _store_path(store) as place, own.known():
        request, benchmark = _request(own.in_options(options), place, tasks, own)
        own.refuse_elsewhere(request.task_runner)
        with arms_folder(request.store) as root:
            request, made = experiment(sources, chosen, asked, request, root=root, old=earlier, benchmark=benchmark)
        summary = _run(request, made, benchmark, prefect=prefect, verbose=verbose)
        if summary.is_partial:
            raise RunError(_why_no_effect(summary, is_kept=store is not None))
        found = experiment_of(Store(request.store), summary.run_id)
        effect = effect_of_reports(found, summary.reports, summary.run_id, summary.benchmark)
    return EffectResult(effect, _evaluation(summary, made, None if store is None else request.store))


class _Agent(Model):
    agent: Text
    model: Text | None
    agent_config: dict[str, Any] | None
    arms: list[str] | None


def _as_read(given: Any) -> Any:
    """As `as_read`; of a mapping, and of any other collection but a text, what is in it."""
    if isinstance(given, Mapping):
        return dict(given)
    return list(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else as_read(given)


def _sources(skills: Any) -> list[Path]:
    """The folders that a caller named. Raises UsageError for anything else."""
    is_one = isinstance(skills, str | bytes | os.PathLike | Mapping) or not isinstance(skills, Iterable)
    listed = [("skills", skills)] if is_one else [(f"skills[{index}]", each) for index, each in enumerate(skills)]
    if not listed:
        raise UsageError("skills is empty; give the folder of an Agent Skill")
    named = [(place, path_given(each, place, _FOLDERS)) for place, each in listed]
    if (blank := next((place for place, path in named if not path.strip()), None)) is not None:
        raise UsageError(f"{blank}: the path is blank; {_FOLDERS}")
    return [Path(path) for _, path in named]


_FOLDERS = "give the folder of an Agent Skill, or several"


def _refuse(options: Mapping[str, Any], *, prefect: bool) -> None:
    if (unequal := next((name for name in OF_ONE_SKILL if name in options), None)) is not None:
        raise UsageError(f"{unequal} is not an option of skill_effect: all arms are asked as often as runs says")
    if not prefect:
        refuse_without_prefect(options)


@contextmanager
def _store_path(store: str | os.PathLike[str] | Store | None) -> Iterator[str]:
    if store is not None:
        yield store_path(store)
        return
    with short_lived_folder() as folder:
        yield folder


def _request(options: Mapping[str, Any], store: str, tasks: Any, own: OwnEvaluators) -> tuple[EvaluateRequest, Benchmark | None]:
    """The request without its arms, and the tasks that the caller holds; None where they are read from a file."""
    unused = {"output_dir": store}  # of reports: none are written, and it must be writable
    if tasks is None or isinstance(tasks, str | os.PathLike):
        named = {} if tasks is None else {"tasks": from_home(os.fspath(tasks))}
        return evaluate_request(options, format=[], store=store, **unused, **named), None
    benchmark = read_tasks(tasks, evaluate_request(options, format=[]).evaluator, own).benchmark
    assert benchmark is not None, "whatever is not a path is read as a benchmark"
    return evaluate_request(options, format=[], store=store, **unused, benchmark=benchmark.id), benchmark


def _run(request: EvaluateRequest, made: Arms, benchmark: Benchmark | None, *, prefect: bool, verbose: bool) -> RunSummary:
    with holding(HeldInMemory(load_skills(list(made.arms.values())), benchmark)):
        plan = plan_for(request)  # what is wrong with the call is said before a server is started for it
        return _with_prefect(request, verbose=verbose) if prefect else evaluate_in_process(plan)


def _why_no_effect(summary: RunSummary, *, is_kept: bool) -> str:
    why = summary.stop_line or f"the run stopped early: {summary.finished:,} of {summary.planned:,} items"
    same = f'resume="{summary.run_id}" and a higher limit ask the rest'
    again = same if is_kept else "give store=, so that resume= can ask the rest"
    return f"{why}; of a part of them the effect is not known: {again}"


def _with_prefect(request: EvaluateRequest, *, verbose: bool) -> RunSummary:
    from eval_skills.api.prefect_run import run_with_prefect

    return run_with_prefect(request, verbose=verbose)


def _evaluation(summary: RunSummary, made: Arms, store: str | None) -> EvaluationResult:
    order = list(made.keys.values())
    reports = sorted(summary.reports, key=lambda report: order.index(report.skill_key))
    return EvaluationResult(reports, summary.run_id, store, [*made.remarks, *summary.remarks, *summary.judging])
