"""``eval-skills eval``, the core command, and ``eval-skills run``, the whole pipeline."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter

from eval_skills.cli.commands.find import check_adapter
from eval_skills.cli.configuration import Mark, Own
from eval_skills.cli.context import current
from eval_skills.cli.options import (
    EVALUATED,
    RESULTS,
    SELECTED,
    AnswerOptions,
    BenchmarkOptions,
    ExecutionOptions,
    JudgeFlags,
    KeepTies,
    LimitOptions,
    ProcessOptions,
    ReportOptions,
    SkillsFolder,
    StrategyFile,
    TopK,
    decimal,
    option,
)
from eval_skills.cli.requests import flags_of, refuse_calling, request_of, request_options, typed, with_own_tests_settled
from eval_skills.cli.running import no_gate, run_flow
from eval_skills.core.errors import UsageError

OF_THE_PIPELINE = (
    "store",
    "exit_on_fail",
    "format",
    "output_dir",
    "skills_dir",
    "min_completion",
)
"""What reporting needs to know also when a run is resumed."""


def eval_command(
    *,
    skills: Annotated[
        list[str] | None,
        Mark.PATH,
        Parameter(
            group=EVALUATED,
            consume_multiple=1,
            help="skill.json files, skill folders or folders of skills [required unless --resume or --traces]",
        ),
    ] = None,
    tag: Annotated[
        list[str] | None,
        Parameter(group=EVALUATED, name=["-t", "--tag"], consume_multiple=1, help="Only tasks with all of these tags"),
    ] = None,
    min_completion: Annotated[
        float | None, option("min_completion", RESULTS, help="Completion rate that --exit-on-fail asks for")
    ] = None,
    what: BenchmarkOptions = BenchmarkOptions(),
    answers: AnswerOptions = AnswerOptions(),
    how: ExecutionOptions = ExecutionOptions(),
    held: ProcessOptions = ProcessOptions(),
    limits: LimitOptions = LimitOptions(),
    judging: JudgeFlags = JudgeFlags(),
    reports: ReportOptions = ReportOptions(),
) -> int:
    """Evaluate skills on a benchmark.

    Every skill answers every task, as often as --runs says; each of these items is one Prefect task run. Results are kept in
    the store, reports are written, and a ranking is printed.

    Example: eval-skills eval --skills ./examples/skills --benchmark coding-easy

    Example: eval-skills eval --skills ./a ./b --runs 3 --format html --exit-on-fail

    Example: eval-skills eval --own-tests --skills ./skills

    Example: eval-skills eval --traces runs.jsonl --benchmark ./my-suite

    Example: eval-skills eval --skills ./a --tasks-from failed:latest

    Example: eval-skills eval --skills ./a --task-filter tags=math,owner=ann

    Example: eval-skills eval --resume latest
    """
    from eval_skills.engine.definition.request import EvaluateRequest

    if not skills and not how.resume and not answers.traces:
        raise UsageError("--skills is required: name skill.json files, skill folders, or folders of skills")
    flags = with_own_tests_settled(flags_of(what, answers, how, held, limits, judging, reports, min_completion=min_completion))
    options = request_options(flags, resuming=bool(how.resume))
    own = {"skills": skills or [], "task_tags": tag or []}
    if skills and options.get("traces"):
        own["skills"] = _unless_recorded(skills, options)
    if options.get("traces"):
        refuse_calling(flags)
    request = request_of(EvaluateRequest, options, **(typed(own) if how.resume else own))
    code = run_flow(request, dry_run=how.dry_run, exit_on_fail=options.get("exit_on_fail"), judging=judging)
    if min_completion is not None and options.get("exit_on_fail") is False and not how.dry_run:
        current().remark(no_gate(min_completion))
    return code


def _unless_recorded(skills: list[str], options: dict[str, Any]) -> list[str]:
    """The skills to call, or none where recorded runs are judged: what was typed beats what is configured."""
    said = typed({"skills": skills, "traces": options["traces"]})
    if len(said) != 1:
        raise UsageError("--skills are called and --traces are not; give one of them")
    if "traces" in said:
        return []
    del options["traces"]
    options.pop("trace_skill", None)
    return skills


def run_command(
    *,
    skills_dir: SkillsFolder = None,
    query: Annotated[
        str | None,
        Parameter(group=EVALUATED, name=["-q", "--query"], help="Only skills with this text in name, description or tags"),
    ] = None,
    skill_tag: Annotated[
        list[str] | None, Parameter(group=EVALUATED, consume_multiple=1, help="Only skills with all of these tags")
    ] = None,
    tag: Annotated[
        list[str] | None,
        Parameter(group=EVALUATED, name=["-t", "--tag"], consume_multiple=1, help="Earlier name of --skill-tag"),
    ] = None,
    adapter: Annotated[
        str | None, Parameter(group=EVALUATED, name=["-a", "--adapter"], help="Only skills behind this adapter")
    ] = None,
    top_k: TopK = None,
    keep_ties: KeepTies = None,
    min_completion: Annotated[
        float | None,
        Own("beats the strategy's own limit, which the top level's does not"),
        Parameter(
            group=SELECTED,
            converter=decimal,
            help="Lowest completion rate to select, and for --exit-on-fail [default: the strategy's, else 0.7]",
        ),
    ] = None,
    strategy: StrategyFile = None,
    what: BenchmarkOptions = BenchmarkOptions(),
    answers: AnswerOptions = AnswerOptions(),
    how: ExecutionOptions = ExecutionOptions(),
    held: ProcessOptions = ProcessOptions(),
    limits: LimitOptions = LimitOptions(),
    judging: JudgeFlags = JudgeFlags(),
    reports: ReportOptions = ReportOptions(),
) -> int:
    """Find skills, evaluate them, select the best and write reports, in one Prefect flow.

    It does what find, eval and select do one after the other, and shows as one flow run with all its steps in Prefect.

    Example: eval-skills run --skills-dir ./examples/skills --runs 3 --top-k 3

    Example: eval-skills run --skill-tag math --strategy strategy.yaml --dry-run
    """
    from eval_skills.engine.definition.request import PipelineRequest
    from eval_skills.engine.stored_runs.candidates import chosen_strategy

    check_adapter(adapter)
    tags = [*(skill_tag or []), *(tag or [])] or None
    flags = flags_of(
        what,
        answers,
        how,
        held,
        limits,
        judging,
        reports,
        skills_dir=skills_dir,
        top_k=top_k,
        keep_ties=keep_ties,
        strategy=strategy,
        min_completion=min_completion,
    )
    flags = with_own_tests_settled(flags)
    options = request_options(flags, resuming=bool(how.resume), always=OF_THE_PIPELINE)
    if options.get("traces"):
        named = None if "--tag" in current().configured else tags
        refuse_calling(flags | {"query": query, "tags": named, "adapter": adapter})
    floor = chosen_strategy(options.get("strategy"), min_completion=min_completion, floor=options.pop("min_completion", None))
    own = {"query": query, "tags": tags or [], "adapter": adapter, "min_completion": floor.filters.min_completion_rate}
    request = request_of(PipelineRequest, options, **own)
    code = run_flow(request, dry_run=how.dry_run, exit_on_fail=options.get("exit_on_fail"), judging=judging)
    if tag:  # at the end: what is refused is refused in one line
        current().remark("--tag of run is now called --skill-tag; tasks are chosen by a tag with --task-filter tags=TAG")
    return code
