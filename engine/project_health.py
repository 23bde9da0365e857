"""Checks of what the configuration of a project names: its benchmarks, its judging model and its suites. No model is asked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from eval_skills.agent_skills.folder import read_agent_skill
from eval_skills.benchmarks import known_ids, load_tasks
from eval_skills.benchmarks.locations import builtin_ids
from eval_skills.core.config import Config
from eval_skills.core.config.options import FlowOptions
from eval_skills.core.environment import Check, Status
from eval_skills.core.errors import UserError
from eval_skills.core.redaction import Redaction, values_of_variables
from eval_skills.core.text import plural
from eval_skills.engine.definition.benchmark import (
    check_judges,
    check_simulators,
    resolve_benchmark,
    resolve_scored,
    scoring_settings,
)
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.plan import skills_at
from eval_skills.engine.nightly.request import Suite, load_suites
from eval_skills.engine.skill_effect.request import SkillEffectSuite
from eval_skills.scorers import TaskScoring
from eval_skills.scorers.judging.model import usual_variables

BENCHMARKS, JUDGE, SUITES = "benchmarks", "judge", "suites"


def project_checks(config: Config, suites: Path | None = None) -> list[Check]:
    """The checks of the configured benchmark, of all in `benchmarksDir`, of the judge, and of the file of `suites`."""
    checks = [*_benchmarks(config), *(_suites(config, suites) if suites is not None else ())]
    redaction = Redaction(values_of_variables(config.secrets))
    return [check.without_secrets(redaction) for check in checks]


def _options(config: Config) -> FlowOptions:
    return FlowOptions(**{name: getattr(config, name) for name in FlowOptions.model_fields if name in type(config).model_fields})


def _benchmarks(config: Config) -> Iterator[Check]:
    request = EvaluateRequest(**dict(_options(config)))
    try:
        scored = resolve_scored(request)
        benchmark, scorings = scored.benchmark, scored.scorings
    except UserError as error:
        yield Check(BENCHMARKS, config.benchmark, "failed", str(error), "fix it: until then every run of it is refused")
        scorings = {}
    else:
        found = f"{plural(len(benchmark.tasks), 'task')}, which runs ask"
        yield Check(BENCHMARKS, f"{benchmark.id}@{benchmark.version}", "ok", found)
    yield from _others(request)
    yield from _judge(request, scorings)


def _others(request: EvaluateRequest) -> Iterator[Check]:
    """The benchmarks in `benchmarksDir` that runs do not ask unless they are named."""
    folder = Path(request.benchmarks_dir) if request.benchmarks_dir else None
    if folder is None or not folder.is_dir():
        return
    for name in sorted(set(known_ids(folder)) - set(builtin_ids()) - {request.benchmark}):
        try:
            found, _ = resolve_benchmark(request.model_copy(update={"benchmark": name, "allow_custom_code": True}))
            yield Check(BENCHMARKS, f"{found.id}@{found.version}", "ok", plural(len(found.tasks), "task"))
        except UserError as error:
            yield Check(BENCHMARKS, name, "failed", str(error), "fix the file; runs of it are refused")


def _judge(request: EvaluateRequest, scorings: dict[str, TaskScoring]) -> Iterator[Check]:
    """The judging model, where one is configured or the configured benchmark needs one."""
    models = {model or request.llm.model for each in scorings.values() for model in (*each.models, *each.simulators)}
    if not models and request.llm.model is None:
        return
    name = ", ".join(sorted(filter(None, models or {request.llm.model}))) or "none"
    try:
        check_judges(scorings)
        check_simulators(scorings)
        scoring_settings(request, None).judges.judge(request.llm.model or min(filter(None, models))).check_name()
    except UserError as error:
        yield Check(JUDGE, name, "failed", str(error), "name a model with llm.model, as PROVIDER/MODEL")
        return
    asked = sum(bool(scoring.models) for scoring in scorings.values())
    needed = asked or any(scoring.simulators for scoring in scorings.values())
    unset = [each for model in sorted(filter(None, models or {request.llm.model})) if (each := _unset_key(request, model))]
    if unset:
        status: Status = "failed" if needed else "warning"
        yield Check(
            JUDGE, name, status, f"its key is not set: {', '.join(unset)}", "set it, or name its variable with llm.apiKeyEnv"
        )
        return
    played = sum(bool(scoring.simulators) for scoring in scorings.values())
    plays = f" and plays the user of {played:,}" if played else ""
    yield Check(JUDGE, name, "ok", f"judges {plural(asked, 'task')}{plays} of {request.benchmark}; it was not asked here")


def _unset_key(request: EvaluateRequest, model: str) -> str:
    """The variable that should hold the key and does not; "" where one does, and for an address of one's own."""
    llm = request.llm
    names = [llm.api_key_env] if llm.api_key_env else [] if llm.api_base else list(usual_variables(model))
    return "" if not names or any(os.environ.get(name) for name in names) else " or ".join(names)


def _suites(config: Config, file: Path) -> Iterator[Check]:
    try:
        suites = load_suites(file)
    except UserError as error:
        yield Check(SUITES, str(file), "failed", str(error), "fix the file; nights are refused until then")
        return
    options = _options(config)
    for suite in suites:
        yield _suite(suite, options)


def _suite(suite: Suite, options: FlowOptions) -> Check:
    if suite.skill_effect is not None:
        return _effect_suite(suite.name, suite.skill_effect, suite.options.tasks)
    try:
        request = suite.request(options)
        benchmark, _ = resolve_benchmark(request)
        skills = skills_at(request.skills, benchmark.subject).skills
    except UserError as error:
        return Check(SUITES, suite.name, "failed", str(error), "fix the suite; its nights fail until then")
    return Check(
        SUITES, suite.name, "ok", f"{plural(len(skills), 'skill')} × {plural(len(benchmark.tasks), 'task')} of {benchmark.id}"
    )


def _effect_suite(name: str, asked: SkillEffectSuite, given: str | None) -> Check:
    try:
        found = [read_agent_skill(source) for source in asked.sources]
        benchmark = load_tasks(Path(asked.tasks(given)))
    except UserError as error:
        return Check(SUITES, name, "failed", str(error), "fix the suite; its nights fail until then")
    what = f"the effect of {', '.join(skill.name for skill in found)} in {plural(len(asked.chosen), 'arm')}"
    return Check(SUITES, name, "ok", f"{what} × {plural(len(benchmark.tasks), 'task')} of {benchmark.id}")
