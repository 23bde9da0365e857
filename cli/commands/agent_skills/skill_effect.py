"""``eval-skills skill-effect``: does an Agent Skill help, on a real agent?"""

from __future__ import annotations

from dataclasses import fields
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
    LimitOptions,
    ProcessOptions,
    TasksFile,
)
from eval_skills.cli.requests import flags_of, request_of, request_options, typed
from eval_skills.cli.running import GATE_FAILED, UNFINISHED, run_request, show_dry_run
from eval_skills.core.config.options import option_of
from eval_skills.core.errors import UsageError

if TYPE_CHECKING:
    from eval_skills.core.skill_effect.model import SkillEffect
    from eval_skills.engine.definition.request import EvaluateRequest

FailOn = Literal["worse", "not-better"]

_OF_SHOWING = ("store", "output_dir", "format")
"""Options that say something to `--of-run`."""


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
    _refuse_what_a_run_has(skill_dirs, arms, old, asked, of_run=of_run, flags=flags)
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
        request, made = experiment(skill_dirs, chosen, asked.chosen(), request, root=root, old=old)
        for remark in made.remarks:
            current().remark(remark)
        return _run(request, dry_run=how.dry_run, judging=judging, fail_on=fail_on)


def _refuse_what_a_run_has(
    skill_dirs: list[Path] | None,
    arms: list[str] | None,
    old: str | None,
    asked: AgentOptions,
    *,
    of_run: str | None,
    flags: dict[str, Any],
) -> None:
    """A stored run has its arms, tasks and agent, and what is shown again calls nothing: what says otherwise would be ignored.

    Raises:
        UsageError: such an option was typed; it is named.
    """
    by = "--of-run" if of_run is not None else "--resume" if flags.get("resume") else None
    if by is None:
        return
    given = {"the folder of an Agent Skill": skill_dirs, "--arms": arms, "--old": old}
    given |= {option_of(each.name): getattr(asked, each.name) for each in fields(asked)}
    if of_run is not None:
        said = {"judge_model" if name == "llm" else name: value for name, value in flags.items() if name not in _OF_SHOWING}
        given |= {option_of(name): value for name, value in typed(said).items()}
    if unfit := next((name for name, value in given.items() if value), None):
        what = "shows a stored run as it is" if of_run is not None else "continues a run with the arms and the agent that it has"
        raise UsageError(f"{by} {what}; leave out {unfit}")


def _run(request: EvaluateRequest, *, dry_run: bool, judging: JudgeFlags, fail_on: FailOn | None) -> int:
    from eval_skills.core.store import Store
    from eval_skills.engine.skill_effect.experiment import effect_of_reports, experiment_of
    from eval_skills.reporting.skill_effect.document import write_effect

    if dry_run:
        show_dry_run(request, exit_on_fail=fail_on is not None, judging=judging)
        return GATE_FAILED if fail_on else 0
    from eval_skills.cli.output.run import show_stop

    ran = run_request(request, "skill-effect", judging)
    summary = ran.summary
    if summary.is_partial:
        show_stop(summary, "skill-effect")
        return ran.exit_code(gate=False)
    experiment = experiment_of(Store(request.store), summary.run_id)
    effect = effect_of_reports(experiment, summary.reports, summary.run_id, summary.benchmark)
    for line in summary.judging:
        current().remark(line)
    files = [*summary.report_files, *write_effect(effect, request.format, Path(request.output_dir).absolute())]
    shown = _shown(effect, files, fail_on, summary.store)
    return ran.exit_code(gate=False) or shown


def _show_again(given: str, flags: dict[str, Any], fail_on: FailOn | None) -> int:
    from eval_skills.engine.skill_effect.experiment import stored_effect
    from eval_skills.reporting.skill_effect.document import EFFECT_FORMATS, write_effect

    if (unfit := next((name for name in typed(flags).get("format", ()) if name not in EFFECT_FORMATS), None)) is not None:
        raise UsageError(f"--format: an effect is not written as {unfit!r}; valid are {', '.join(EFFECT_FORMATS)}")
    config = current().config({name: flags[name] for name in ("store", "output_dir", "format") if name in flags})
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
