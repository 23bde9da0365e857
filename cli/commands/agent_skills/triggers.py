"""``eval-skills triggers``: does an agent load an Agent Skill when it should, and only then?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from eval_skills.cli.agent import AgentOptions, config_of_showing, refuse_beside_a_run
from eval_skills.cli.configuration import Mark, Own
from eval_skills.cli.context import GATE_FAILED, current
from eval_skills.cli.options import (
    EVALUATED,
    RESULTS,
    ExperimentOptions,
    ExperimentReports,
    JudgeFlags,
    LimitOptions,
    ProcessOptions,
    whole,
)
from eval_skills.cli.requests import flags_of, request_of, request_options
from eval_skills.cli.running import run_experiment, run_request
from eval_skills.core.errors import InputError, RunError, UsageError
from eval_skills.core.skills import load_skill
from eval_skills.core.text import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eval_skills.core.triggers import Triggers
    from eval_skills.engine.definition.request import EvaluateRequest
    from eval_skills.engine.evaluation.summary import RunSummary
    from eval_skills.engine.triggers.experiment import PreparedTriggers
    from eval_skills.engine.triggers.optimizing import Candidate, Measured, Optimized


def triggers_command(
    skill_dir: Annotated[Path | None, Mark.PATH, Parameter(help="Folder with the SKILL.md")] = None,
    /,
    *,
    queries: Annotated[
        Path | None,
        Mark.PATH,
        Parameter(group=EVALUATED, help="JSON file of queries [default: the skill's evals/eval_queries.json]"),
    ] = None,
    neighbours: Annotated[
        list[Path] | None,
        Mark.PATH,
        Parameter(group=EVALUATED, consume_multiple=1, help="Folders of Agent Skills that are installed beside it"),
    ] = None,
    asked: AgentOptions = AgentOptions(),
    how: ExperimentOptions = ExperimentOptions(),
    held: ProcessOptions = ProcessOptions(),
    limits: LimitOptions = LimitOptions(),
    judging: JudgeFlags = JudgeFlags(),
    reports: ExperimentReports = ExperimentReports(),
    optimize: Annotated[
        int | None,
        Parameter(
            group=EVALUATED,
            converter=whole,
            help="Let --judge-model rewrite the description up to N times (1 to 5), and keep it if better is proven",
        ),
    ] = None,
    exit_on_fail: Annotated[
        bool | None,
        Own("means something else here"),
        Parameter(
            group=RESULTS,
            help="Exit 1 when a query does not do as it should, or missing runs leave that open",
            show_default=False,
            n_tokens=0,
        ),
    ] = None,
    of_run: Annotated[
        str | None,
        Mark.ID_OR_PATH,
        Parameter(
            group=RESULTS,
            help="Show the figures of a stored run again: its id, the beginning of it, or latest; nothing is called",
        ),
    ] = None,
) -> int:
    """Measure whether an agent loads an Agent Skill when it should, and only then.

    Every query is asked with the skill and its neighbours installed, each time in a fresh workspace; a run ends as soon as a
    skill is loaded. A run that does not come to an end without a load is missing, and never counts as not loaded.

    Example: eval-skills triggers ./csv-tools --agent opencode --runs 3

    Example: eval-skills triggers ./csv-tools --neighbours ./pdf-tools ./xlsx-tools

    With --optimize a model rewrites the description for 60 % of the queries. The best of its descriptions is compared with the
    original on the others, and written into the SKILL.md only where it is proven to be better.

    Example: eval-skills triggers ./csv-tools --optimize 3 --judge-model openai/a

    Example: eval-skills triggers --of-run latest
    """
    from eval_skills.engine.definition.request import EvaluateRequest
    from eval_skills.engine.skill_effect.experiment import arms_folder
    from eval_skills.engine.triggers.experiment import as_evaluation

    flags = flags_of(how, held, limits, judging, reports)
    own = {"--queries": queries, "--neighbours": neighbours, "--optimize": optimize is not None}
    refuse_beside_a_run(of_run, flags, {"the folder of an Agent Skill": skill_dir, **own}, asked)
    if of_run is not None:
        return _show_again(of_run, flags, gate=bool(exit_on_fail))
    request = request_of(EvaluateRequest, request_options(flags, resuming=bool(how.resume)))
    if how.resume:
        return _run(request, dry_run=how.dry_run, gate=exit_on_fail)
    if skill_dir is None:
        raise UsageError("name the folder of an Agent Skill, or a run with --resume or --of-run")
    if optimize is not None and (other := _unfit_beside_optimize(how.dry_run, gate=bool(exit_on_fail))):
        raise UsageError(f"--optimize makes several runs and compares two of them, and {other} is about one; leave it out")
    with arms_folder(request.store, dry_run=how.dry_run) as root:
        if optimize is not None:
            return _optimize(skill_dir, queries, neighbours or [], asked, request, root, optimize)
        prepared = _prepared(skill_dir, queries, neighbours or [], asked, root)
        request = as_evaluation(request, [prepared], exit_on_fail=bool(exit_on_fail))
        return _run(request, dry_run=how.dry_run, gate=exit_on_fail)


def _unfit_beside_optimize(dry_run: bool, *, gate: bool) -> str:
    return "--dry-run" if dry_run else "--exit-on-fail" if gate else ""


def _prepared(source: Path, queries: Path | None, neighbours: list[Path], asked: AgentOptions, root: Path) -> PreparedTriggers:
    from eval_skills.engine.triggers.experiment import prepare_triggers, queries_of, read_queries

    agent = asked.chosen(stopWhenSkillLoaded=True)
    return prepare_triggers(source, neighbours, read_queries(queries_of(source, queries)), agent, root)


def _optimize(
    source: Path,
    queries: Path | None,
    neighbours: list[Path],
    asked: AgentOptions,
    request: EvaluateRequest,
    root: Path,
    rounds: int,
) -> int:
    """Rewrite, measure, compare, and keep what is proven to be better."""
    from eval_skills.agent_skills.folder import read_agent_skill
    from eval_skills.cli.output.triggers import show_optimized
    from eval_skills.core.config.judging import JudgeOptions
    from eval_skills.engine.triggers.experiment import queries_of, read_queries
    from eval_skills.engine.triggers.optimizing import MAX_ROUNDS, Setting, asking, halves, optimize, too_few_to_prove

    if not 1 <= rounds <= MAX_ROUNDS:
        raise UsageError(f"--optimize: give 1 to {MAX_ROUNDS} rounds; got {rounds}")
    setting = Setting(
        source,
        neighbours,
        asked.chosen(stopWhenSkillLoaded=True),
        root,
        halves(read_queries(queries_of(source, queries))),
    )
    judging = JudgeOptions(**{name: getattr(request, name) for name in JudgeOptions.model_fields})
    with asking(read_agent_skill(source), judging, current().remark) as ask:
        if (futile := too_few_to_prove(setting.halves.held_out)) is not None:
            current().remark(futile)
        found = optimize(setting, rounds, ask, lambda prepared: _measured(request, prepared), _tell)
    kept, failed = _kept(source, found)
    show_optimized(found, kept)
    if failed is not None:
        raise RunError(f"the description is proven to be better, and was not written: {failed}")
    return 0


def _tell(tried: Candidate) -> None:
    """What a description achieved, at once: a call that is interrupted later on has it on the screen."""
    from eval_skills.cli.output.triggers import candidate_line
    from eval_skills.reporting.escape import visible_line

    current().remark(f"{candidate_line(tried)}: {visible_line(tried.description)}", style="")


def _kept(source: Path, found: Optimized) -> tuple[Path | None, str | None]:
    """The file with the new description where it is proven to be better, or why it could not be written."""
    from eval_skills.engine.triggers.optimizing import keep

    if not found.is_proven or found.best is None:
        return None, None
    try:
        return keep(source, found.tried[0].description, found.best.description), None
    except InputError as error:
        return None, str(error)


def _measured(request: EvaluateRequest, prepared: Sequence[PreparedTriggers]) -> Measured:
    from eval_skills.engine.triggers.experiment import as_evaluation, triggers_of_reports
    from eval_skills.engine.triggers.optimizing import Measured

    summary = run_request(as_evaluation(request.model_copy(update={"format": []}), prepared), "triggers").summary
    if summary.is_partial:
        raise RunError(f"run {summary.run_id} {summary.stop_line or 'stopped early'}, so nothing can be compared")
    by_id = {report.skill_id: report for report in summary.reports}
    reports = [by_id[load_skill(each.folder).id] for each in prepared]
    figures = [
        triggers_of_reports(each.experiment, [report], summary.run_id) for each, report in zip(prepared, reports, strict=True)
    ]
    return Measured(summary.run_id, figures, reports)


def _run(request: EvaluateRequest, *, dry_run: bool, gate: bool | None) -> int:
    """`gate` None: a run that is resumed keeps the one that it began with."""
    from eval_skills.engine.triggers.experiment import trigger_experiment_in

    def is_gated(begun: EvaluateRequest) -> bool:
        found = trigger_experiment_in(begun.provenance)
        return bool(found and found.exit_on_fail) if gate is None else gate

    return run_experiment(request, "triggers", partial(_show_run, request, gate), dry_run=dry_run, is_gated=is_gated)


def _show_run(request: EvaluateRequest, gate: bool | None, summary: RunSummary) -> int:
    from eval_skills.core.store import Store
    from eval_skills.engine.triggers.experiment import trigger_experiment_of, triggers_of_reports
    from eval_skills.reporting.triggers.document import write_triggers

    experiment = trigger_experiment_of(Store(request.store), summary.run_id)
    found = triggers_of_reports(experiment, summary.reports, summary.run_id)
    files = [*summary.report_files, *write_triggers(found, request.format, Path(request.output_dir).absolute())]
    return _shown(found, files, experiment.exit_on_fail if gate is None else gate, summary.store)


def _show_again(given: str, flags: dict[str, Any], *, gate: bool) -> int:
    from eval_skills.engine.triggers.experiment import stored_triggers
    from eval_skills.reporting.triggers.document import TRIGGER_FORMATS, write_triggers

    config = config_of_showing(flags, TRIGGER_FORMATS, "triggers are")
    found, remarks = stored_triggers(config.store, given)
    for remark in remarks:
        current().remark(remark)
    files = write_triggers(found, flags.get("format", []), Path(config.output_dir).absolute())
    return _shown(found, files, gate, config.store)


def _shown(found: Triggers, files: list[Path], gate: bool, store: str) -> int:
    from eval_skills.cli.output.triggers import show_triggers

    failures = gate_failures(found) if gate else None
    show_triggers(found, files, failures, store=store)
    return GATE_FAILED if failures else 0


def gate_failures(found: Triggers) -> list[str]:
    """Why the gate fails: queries that did not do as they should, that missing runs leave open, or that were not observed."""
    lines = [f"{each.id} ({each.query[:60]}): {each.loaded} of {each.observed} runs loaded the skill" for each in found.failed]
    lines += [
        f"{each.id} ({each.query[:60]}): {plural(each.missing, 'missing run')} of {each.observed + each.missing} could turn it"
        for each in found.queries
        if each.passed and each.left_open
    ]
    unseen = len(found.unknown)
    return [*lines, *([f"{plural(unseen, 'query')} without an observed run"] if unseen else [])]
