"""Evaluating a skill from a test: options become a request, as on the command line; the run needs no Prefect server."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from eval_skills.core.documents.loading import from_home
from eval_skills.core.errors import EvalSkillsError, InputError, RunError, UsageError
from eval_skills.core.text import nearest
from eval_skills.pytest_plugin import STORE

if TYPE_CHECKING:
    from eval_skills.core.models import SkillCompletionReport
    from eval_skills.engine.definition.request import EvaluateRequest
    from eval_skills.engine.evaluation.plan import RunPlan
    from eval_skills.pytest_plugin.outcomes import BaselineOutcome, SkillReport

T = TypeVar("T")

NOT_OF_A_TEST = frozenset(
    {
        "skills", "format", "output_dir", "min_completion", "fail_fast", "items_per_task", "task_runner",
        "resume", "retry_errors", "traces", "trace_skill", "origin", "provenance", "at",
    }
)  # fmt: skip
"""Those fields of an evaluation's request that are about other ways to run it, or to show it. A test may name the others."""

_PATHS = ("tasks", "benchmarks_dir", "store", "record", "replay")
_UNKEPT = "eval-skills-unkept"
"""The name of the store that a plan has whose results are not kept, until it is carried out: no such folder is made."""


class Evaluator:
    """Evaluates skills for the tests of one session; results of tests that name no store are kept as long as pytest's own."""

    def __init__(self, config: pytest.Config, folders: pytest.TempPathFactory) -> None:
        self._config, self._folders = config, folders

    def evaluate(self, skill: str | os.PathLike[str], /, **options: Any) -> SkillReport:
        """The report of `skill` (a skill.json or its folder); `options` are those of `EvaluateRequest`, but `NOT_OF_A_TEST`.

        What cannot be evaluated at all fails the test with one line. What the skill does wrong is in the report.
        """
        from eval_skills.pytest_plugin.explaining import explain

        plan = failing_clearly("eval_skill", lambda: planned(self._config, skill, options))
        report = failing_clearly("eval_skill", lambda: self.run(plan))
        explain(self._config, report)
        return report

    def run(self, plan: RunPlan) -> SkillReport:
        """Carry out a plan of one skill. What of a foreign file is not among its tasks is a warning: pytest lists those of tests
        that pass, too.

        Raises:
            EvalSkillsError: its results cannot be written, or a limit of the run leaves items without one.
        """
        from eval_skills.api.options import in_python
        from eval_skills.engine.definition.benchmark import not_imported
        from eval_skills.engine.evaluation.in_process import evaluate_in_process

        for sentence in not_imported(plan.benchmark):
            warnings.warn(sentence, pytest.PytestWarning, stacklevel=1)
        summary = evaluate_in_process(_landing(plan, self._folders))
        if summary.stop_line is not None:
            raise RunError(f"{in_python(summary.stop_line)}; raise the limit")
        [report] = summary.reports
        return as_skill_report(report)


def planned(config: pytest.Config, skill: str | os.PathLike[str], options: Mapping[str, Any]) -> RunPlan:
    """The checked plan of one skill's evaluation.

    Raises:
        UserError: an option is unknown or wrong, or there is not exactly one skill, or no benchmark.
    """
    from eval_skills.core.documents.loading import validate
    from eval_skills.engine.definition.request import EvaluateRequest
    from eval_skills.engine.evaluation.plan import make_plan

    known = sorted(EvaluateRequest.model_fields.keys() - NOT_OF_A_TEST)
    for name in options:
        if name not in known:
            raise UsageError(f"unknown option {name!r}{nearest(name, known)}; known are {', '.join(known)}")
    if not isinstance(skill, str | os.PathLike) or not str(skill).strip():
        remedy = "; functions and other objects are for eval_skills.evaluate(skill, tasks)" if callable(skill) else ""
        raise UsageError(f"skill must be the path of a skill.json or of its folder; got {skill!r}{remedy}")
    if not isinstance(tasks := options.get("tasks", ""), str | os.PathLike):
        raise UsageError(f"tasks must be the path of a file; a {type(tasks).__name__} is for eval_skills.evaluate(skill, tasks)")
    root = config.rootpath
    given = {name: _placed(root, value) if name in _PATHS else value for name, value in options.items()}
    if "store" not in given and (store := config.getini(STORE)):
        given["store"] = _placed(root, store)
    configured = _configured(root, known)
    asked = {**configured, **given}
    if "benchmark" in asked:
        asked["benchmark"] = _benchmark(root, asked["benchmark"])
    try:
        request = validate(EvaluateRequest, {**asked, "skills": [_placed(root, skill)], "format": []})
    except InputError as error:
        raise UsageError(": ".join(filter(None, (error.path, error.message)))) from None
    if "llm" in given:  # key by key: a model by itself is asked at the address that the configuration has, never at another
        own = {name: getattr(request.llm, name) for name in request.llm.model_fields_set}
        request = request.model_copy(update={"llm": configured["llm"].model_copy(update=own)})
    plan = make_plan(_written_where_pytest_writes(config, request))
    if len(plan.skills) != 1 or plan.skipped:
        found = ", ".join([*plan.skills, *(plan.remarks if plan.skipped else ())])
        raise UsageError(f"{root / skill}: name one skill; this folder holds several: {found}")
    return plan


def compared_with(config: pytest.Config, baseline: str, margin: float | None, store: Any, report: SkillReport) -> BaselineOutcome:
    """The report beside an earlier one of its skill. It does not pass where it is worse, not proven to be no worse, or not
    comparable, nor where a forbidden tool was called, or may have been.

    Raises:
        UserError: the baseline cannot be read.
    """
    from eval_skills.core.diff.diff import diff_reports
    from eval_skills.core.diff.gate import forbidden_failures, gate_failures
    from eval_skills.engine.stored_runs.reports import read_source
    from eval_skills.engine.stored_runs.run_ids import LATEST, names_run
    from eval_skills.pytest_plugin.outcomes import BaselineOutcome

    kept = store or config.getini(STORE)
    is_run = baseline != LATEST and names_run(baseline, config.rootpath)
    if is_run and not kept:
        raise UsageError(
            f"baseline {baseline} is a run of a store; name the store with {STORE} in the ini file, or give a report"
        )
    place = baseline if is_run else _placed(config.rootpath, baseline)
    source = read_source(place, str(_placed(config.rootpath, kept or "eval-store")))
    before = [each for each in source.reports if (each.skill_id, each.benchmark_id) == (report.skill_id, report.benchmark_id)]
    found = diff_reports(before, [report])
    known = [*filter(None, [source.unfinished]), *forbidden_failures([report])]
    failures = gate_failures(found, "worse") if margin is None else gate_failures(found, "not-proven", margin=margin)
    return BaselineOutcome(baseline=baseline, problems=[*known, *failures], not_compared=found.not_compared, report=report)


def as_skill_report(report: SkillCompletionReport) -> SkillReport:
    """The report with its words for tests."""
    from eval_skills.pytest_plugin.outcomes import SkillReport

    return SkillReport.model_construct(**{name: getattr(report, name) for name in type(report).model_fields})


def failing_clearly(what: str, work: Callable[[], T]) -> T:
    """The result of `work`; an error of ours is one line of a failed test, without a trace through this package."""
    try:
        return work()
    except EvalSkillsError as error:
        line = f"{what}: {error}"
    pytest.fail(line, pytrace=False)


def _configured(root: Path, names: Iterable[str]) -> dict[str, Any]:
    """What the rootdir's and the home's configuration files and variables say, with the defaults below; all but the store.

    The groups of commands are known by their names alone: none of them runs here, and to read all takes most of a second.
    """
    from eval_skills.cli.app import app
    from eval_skills.cli.configuration import configuration_model
    from eval_skills.core.config import load_config

    config = load_config({}, environ=os.environ, cwd=root, home=Path.home(), model=configuration_model(app, ())).config
    values = {name: getattr(config, name) for name in names if name in type(config).model_fields and name != "store"}
    return {name: str(value) if isinstance(value, Path) else value for name, value in values.items()}


def _placed(root: Path, value: Any) -> Any:
    """A path as one below the rootdir, unless it begins with ``~``; a URL stays, and so does what is not a path."""
    is_path = isinstance(value, os.PathLike) or (isinstance(value, str) and value.strip() and "://" not in value)
    return str(root / from_home(str(value))) if is_path else value


def _benchmark(root: Path, given: Any) -> Any:
    """A benchmark's file or folder below the rootdir where it is one, as on the command line; else an id, which stays."""
    from eval_skills.benchmarks import builtin_ids
    from eval_skills.benchmarks.locations import BENCHMARK_FILES

    placed = _placed(root, given)
    if isinstance(given, os.PathLike) or not isinstance(given, str) or not given.strip():
        return placed
    there = Path(placed)
    holds = there.is_file() or any((there / name).is_file() for name in BENCHMARK_FILES)
    return placed if holds or os.sep in given or (there.is_dir() and given not in builtin_ids()) else given


def _written_where_pytest_writes(config: pytest.Config, request: EvaluateRequest) -> EvaluateRequest:
    """The request without folders of the project that nothing will be written to: it may be read-only."""
    from eval_skills.core.store import Store

    if "store" in request.model_fields_set:
        return request.model_copy(update={"output_dir": str(Store(request.store).layout.root)})
    unkept = Path(config.getoption("basetemp", None) or gettempdir()) / _UNKEPT
    if request.tasks_from or request.against:  # these are read from the project's store
        return request.model_copy(update={"output_dir": str(unkept)})
    return request.model_copy(update={"output_dir": str(unkept), "store": str(unkept)})


def _landing(plan: RunPlan, folders: pytest.TempPathFactory) -> RunPlan:
    """The plan with a store that lasts as long as pytest keeps its folders, where the test and the ini file name none."""
    from dataclasses import replace

    from eval_skills.core.store import Store
    from eval_skills.core.store.files import keep_briefly

    if "store" in plan.request.model_fields_set and Path(plan.request.store).name != _UNKEPT:
        return plan
    store = str(folders.mktemp("eval-store"))
    keep_briefly(store)
    return replace(plan, store=Store(store), request=plan.request.model_copy(update={"store": store}))
