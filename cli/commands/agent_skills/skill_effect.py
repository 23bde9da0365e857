"""``eval-skills skill-effect``: does an Agent Skill help, on a real agent?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from eval_skills.cli.agent import AgentOptions, config_of_showing, refuse_beside_a_run
from eval_skills.cli.configuration import Mark
from eval_skills.cli.context import GATE_FAILED, UNFINISHED, current
from eval_skills.cli.options import (
    EVALUATED,
    RESULTS,
    ExperimentOptions,
    ExperimentReports,
    JudgeFlags,
    LimitOptions,
    ProcessOptions,
    TasksFile,
)
from eval_skills.cli.requests import flags_of, request_of, request_options
from eval_skills.cli.running import run_experiment
from eval_skills.core.errors import UsageError

if TYPE_CHECKING:
    from eval_skills.core.skill_effect.model import SkillEffect
    from eval_skills.engine.definition.request import EvaluateRequest
    from eval_skills.engine.evaluation.summary import RunSummary

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
    limits: LimitOptions = LimitOptions(),
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
    from eval_skills.engine.skill_effect.arms import arms_asked
    from eval_skills.engine.skill_effect.experiment import arms_folder, experiment

    flags = flags_of(how, held, limits, judging, reports, tasks=tasks)
    refuse_beside_a_run(of_run, flags, {"the folder of an Agent Skill": skill_dirs, "--arms": arms, "--old": old}, asked)
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
        chosen = arms_asked(arms, old, option="--arms")
        request, made = experiment(skill_dirs, chosen, asked.chosen(), request, root=root, old=old, fail_on=fail_on)
        for remark in made.remarks:
            current().remark(remark)
        return _run(request, dry_run=how.dry_run, judging=judging, fail_on=fail_on)


def _run(request: EvaluateRequest, *, dry_run: bool, judging: JudgeFlags, fail_on: FailOn | None) -> int:
    from eval_skills.engine.skill_effect.experiment import experiment_in

    def is_gated(begun: EvaluateRequest) -> bool:
        found = experiment_in(begun.provenance)
        return bool(fail_on or (found and found.fail_on))

    show = partial(_show_run, request, fail_on)
    return run_experiment(request, "skill-effect", show, dry_run=dry_run, is_gated=is_gated, judging=judging)


def _show_run(request: EvaluateRequest, fail_on: FailOn | None, summary: RunSummary) -> int:
    from eval_skills.core.store import Store
    from eval_skills.engine.skill_effect.experiment import effect_of_reports, experiment_of
    from eval_skills.reporting.skill_effect.document import write_effect

    experiment = experiment_of(Store(request.store), summary.run_id)
    effect = effect_of_reports(experiment, summary.reports, summary.run_id, summary.benchmark)
    for line in summary.judging:
        current().remark(line)
    files = [*summary.report_files, *write_effect(effect, request.format, Path(request.output_dir).absolute())]
    return _shown(effect, files, fail_on or experiment.fail_on, summary.store)


def _show_again(given: str, flags: dict[str, Any], fail_on: FailOn | None) -> int:
    from eval_skills.engine.skill_effect.experiment import stored_effect
    from eval_skills.reporting.skill_effect.document import EFFECT_FORMATS, write_effect

    config = config_of_showing(flags, EFFECT_FORMATS, "an effect is")
    effect, remarks = stored_effect(config.store, given)
    for remark in remarks:
        current().remark(remark)
    files = write_effect(effect, flags.get("format", []), Path(config.output_dir).absolute())
    return _shown(effect, files, fail_on, config.store)


def _shown(effect: SkillEffect, files: list[Path], fail_on: FailOn | None, store: str) -> int:
    from eval_skills.cli.output.skill_effect import show_effect
    from eval_skills.core.skill_effect.gate import gate_failures

    failures = None if fail_on is None else gate_failures(effect, fail_on)
    show_effect(effect, files, failures, store=store)
    return exit_code(effect, failures)


def exit_code(effect: SkillEffect, failures: list[str] | None) -> int:
    """3 where the set-up is wrong, so that nothing may be believed; else what the gate says."""
    if effect.problems:
        return UNFINISHED
    return GATE_FAILED if failures else 0
