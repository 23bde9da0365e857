"""``eval-skills skill-effect``: does an Agent Skill help, on a real agent?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from eval_skills.cli.agent import AgentOptions
from eval_skills.cli.configuration import Mark
from eval_skills.cli.context import current
from eval_skills.cli.options import (
    EVALUATED,
    RESULTS,
    ExperimentOptions,
    ExperimentReports,
    JudgeFlags,
    ProcessOptions,
    TasksFile,
)
from eval_skills.cli.requests import flags_of, request_of, request_options
from eval_skills.cli.running import GATE_FAILED, UNFINISHED, run_request, show_dry_run
from eval_skills.core.errors import UsageError

if TYPE_CHECKING:
    from eval_skills.core.skill_effect import Arm, SkillEffect
    from eval_skills.engine.definition.request import EvaluateRequest
    from eval_skills.engine.skill_effect.arms import Agent, Arms

FailOn = Literal["worse", "not-better"]


def skill_effect_command(
    skill_dirs: Annotated[
        list[Path] | None, Mark.PATH, Parameter(help="Folders with a SKILL.md; several are installed together")
    ] = None,
    /,
    *,
    tasks: TasksFile = None,
    arms: Annotated[
        list[str] | None,
        Parameter(
            group=EVALUATED, consume_multiple=1, help="Arms to compare: with without old sham [default: with without, and old]"
        ),
    ] = None,
    old: Annotated[
        str | None,
        Parameter(group=EVALUATED, help="Earlier version for the arm old: a git revision such as HEAD~1, or a folder"),
    ] = None,
    asked: AgentOptions = AgentOptions(),
    how: ExperimentOptions = ExperimentOptions(),
    held: ProcessOptions = ProcessOptions(),
    judging: JudgeFlags = JudgeFlags(),
    reports: ExperimentReports = ExperimentReports(),
    fail_on: Annotated[
        FailOn | None,
        Parameter(group=RESULTS, help="Exit 1 when the Agent Skill makes it worse, or is not proven to make it better"),
    ] = None,
    of_run: Annotated[
        str | None,
        Mark.ID_OR_PATH,
        Parameter(
            group=RESULTS, help="Show the effect of a stored run again: its id, the beginning of it, or latest; nothing is called"
        ),
    ] = None,
) -> int:
    """Compare an agent with and without an Agent Skill, on the same tasks.

    Every task is asked in every arm, as often as --runs says, each time in a fresh workspace; the arms take turns. A paired test
    decides. The arm without must not load the Agent Skill: then the set-up is wrong, and the exit code is 3.

    Example: eval-skills skill-effect ./csv-tools --agent opencode --runs 3

    Example: eval-skills skill-effect ./csv-tools --old HEAD~1 --fail-on worse

    Example: eval-skills skill-effect --of-run latest
    """
    from eval_skills.engine.definition.request import EvaluateRequest
    from eval_skills.engine.skill_effect.experiment import arms_folder

    flags = flags_of(how, held, judging, reports, tasks=tasks)
    if of_run is not None:
        return _show_again(of_run, flags, fail_on)
    opts = request_options(flags, resuming=bool(how.resume))
    if how.resume:
        request = request_of(EvaluateRequest, opts)
        return _run(request, dry_run=how.dry_run, judging=judging, fail_on=fail_on)
    if not skill_dirs:
        raise UsageError("name the folder of an Agent Skill, or a run with --resume or --of-run")
    request = request_of(EvaluateRequest, opts)
    with arms_folder(request.store, dry_run=how.dry_run) as root:
        request, made = _experiment(skill_dirs, _arms(arms, old), old, asked.chosen(), request, root)
        for remark in made.remarks:
            current().remark(remark)
        return _run(request, dry_run=how.dry_run, judging=judging, fail_on=fail_on)


def _arms(named: list[str] | None, old: str | None) -> list[Arm]:
    from eval_skills.core.skill_effect import ARMS
    from eval_skills.core.text import nearest

    if named is None:
        return ["with", "without", *(["old"] if old else [])]  # type: ignore[list-item] # arms
    for name in named:
        if name not in ARMS:
            raise UsageError(f"--arms: unknown arm {name!r}{nearest(name, ARMS)}; valid are {', '.join(ARMS)}")
    chosen = [arm for arm in ARMS if arm in {*named, *(["old"] if old else [])}]
    if "with" not in chosen or len(chosen) < 2:
        raise UsageError(f"--arms: the arm with is compared with others; give it and another one, got {' '.join(named)}")
    return chosen


def _experiment(
    sources: list[Path], arms: list[Arm], old: str | None, agent: Agent, request: EvaluateRequest, root: Path
) -> tuple[EvaluateRequest, Arms]:
    from eval_skills.benchmarks import load_tasks
    from eval_skills.engine.skill_effect.arms import make_arms
    from eval_skills.engine.skill_effect.experiment import as_evaluation, folders_of_files, tasks_of

    tasks = tasks_of(sources, request.tasks)
    made = make_arms(
        sources,
        arms,
        agent,
        load_tasks(tasks),
        files_in=folders_of_files(tasks, sources),
        root=root,
        old=old,
    )
    return as_evaluation(request.model_copy(update={"tasks": str(tasks)}), made, agent), made


def _run(request: EvaluateRequest, *, dry_run: bool, judging: JudgeFlags, fail_on: FailOn | None) -> int:
    from eval_skills.core.store import Store
    from eval_skills.engine.skill_effect.experiment import effect_of_reports, experiment_of
    from eval_skills.reporting.skill_effect.document import write_effect

    if dry_run:
        show_dry_run(request, exit_on_fail=fail_on is not None, judging=judging)
        return GATE_FAILED if fail_on else 0
    ran = run_request(request, "skill-effect", judging)
    summary = ran.summary
    if summary.is_partial:
        current().remark(
            f"stopped early: {summary.finished} of {summary.planned} items; continue with skill-effect --resume {summary.run_id}",
            style="red",
        )
        return GATE_FAILED
    experiment = experiment_of(Store(request.store), summary.run_id)
    effect = effect_of_reports(experiment, summary.reports, summary.run_id, summary.benchmark)
    files = [*summary.report_files, *write_effect(effect, request.format, Path(request.output_dir).absolute())]
    shown = _shown(effect, files, fail_on, summary.store)
    return ran.exit_code(gate=False) or shown


def _show_again(given: str, flags: dict[str, Any], fail_on: FailOn | None) -> int:
    from eval_skills.engine.skill_effect.experiment import stored_effect
    from eval_skills.reporting.skill_effect.document import write_effect

    config = current().config({name: flags[name] for name in ("store", "output_dir", "format") if name in flags})
    effect, remarks = stored_effect(config.store, given)
    for remark in remarks:
        current().remark(remark)
    files = write_effect(effect, flags.get("format", []), Path(config.output_dir).absolute())
    return _shown(effect, files, fail_on, config.store)


def _shown(effect: SkillEffect, files: list[Path], fail_on: FailOn | None, store: str) -> int:
    from eval_skills.cli.output.skill_effect import show_effect

    failures = None if fail_on is None else gate_failures(effect, fail_on)
    show_effect(effect, files, failures, store=store)
    return exit_code(effect, failures)


def exit_code(effect: SkillEffect, failures: list[str] | None) -> int:
    """3 where the set-up is wrong, so that nothing may be believed; else what the gate says."""
    if effect.problems:
        return UNFINISHED
    return GATE_FAILED if failures else 0


def gate_failures(effect: SkillEffect, fail_on: FailOn) -> list[str]:
    """Why the gate fails; a comparison that could not be made, or not be believed, has not passed."""
    found = [f"set-up error: {problem}" for problem in effect.problems]
    for each in effect.comparisons:
        name, verdict = f"with − {each.against}", each.diff.verdict
        if each.diff.statistics is None:
            found.append(f"{name} could not be compared")
        elif verdict == "worse" or (fail_on == "not-better" and verdict != "better"):
            found.append(f"{name} is {verdict}")
        elif each.diff.left_open:
            found.append(f"{name}: items without a verdict leave open whether it is worse")
    return found
