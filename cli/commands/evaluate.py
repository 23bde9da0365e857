"""``eval-skills eval``: the core command."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from cyclopts import Parameter

from eval_skills.cli.configuration import Mark
from eval_skills.cli.context import current
from eval_skills.cli.options import (
    EVALUATED,
    RESULTS,
    BenchmarkOptions,
    ExecutionOptions,
    JudgeFlags,
    ProcessOptions,
    ReportOptions,
    flags_of,
    option_of,
)

if TYPE_CHECKING:
    from eval_skills.core.models import Model

Request = TypeVar("Request", bound="Model")
_ASKED = ("tasks", "complexity", "traces", "trace_skill")
OF_ONE_CALL = (*_ASKED, "resume", "retry_errors", "dry_run")
"""Options that the configuration's top level does not know."""

_OF_CALLS = ("skills_dir", "query", "tags", "adapter", "runs", "retries")


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
        float | None, Mark.SHARED, Parameter(group=RESULTS, help="Completion rate that --exit-on-fail asks for [default: 0.7]")
    ] = None,
    what: BenchmarkOptions = BenchmarkOptions(),
    how: ExecutionOptions = ExecutionOptions(),
    held: ProcessOptions = ProcessOptions(),
    judging: JudgeFlags = JudgeFlags(),
    reports: ReportOptions = ReportOptions(),
) -> int:
    """Evaluate skills on a benchmark.

    Every skill answers every task, as often as --runs says; each of these items is one Prefect task run. Results are kept in
    the store, reports are written, and a ranking is printed.

    Example: eval-skills eval --skills ./examples/skills --benchmark coding-easy

    Example: eval-skills eval --skills ./a ./b --runs 3 --format html --exit-on-fail

    Example: eval-skills eval --traces runs.jsonl --benchmark ./my-suite

    Example: eval-skills eval --resume latest
    """
    from eval_skills.cli.running import run_flow
    from eval_skills.core.errors import UsageError
    from eval_skills.engine.definition.request import EvaluateRequest

    if not skills and not how.resume and not what.traces:
        raise UsageError("--skills is required: name skill.json files, skill folders, or folders of skills")
    flags = flags_of(what, how, held, judging, reports, min_completion=min_completion)
    options = request_options(flags, resuming=bool(how.resume))
    own = {"skills": skills or [], "task_tags": tag or []}
    if skills and options.get("traces"):
        own["skills"] = _unless_recorded(skills, options)
    if options.get("traces"):
        refuse_calling(flags)
    request = request_of(EvaluateRequest, options, **(typed(own) if how.resume else own))
    return run_flow(request, dry_run=how.dry_run, exit_on_fail=bool(options["exit_on_fail"]), judging=judging)


def request_options(
    flags: dict[str, Any], *, resuming: bool, always: Collection[str] = ("store", "exit_on_fail")
) -> dict[str, Any]:
    """The request's fields: configuration layers below, flags on top.

    A resume names only what was typed, as said anew, and what is `always` its own.
    """
    from eval_skills.core.config import Config

    forgotten = {*_ASKED} if resuming else {"retry_errors"}  # what is configured for the other kind of call
    once = {
        name: value for name, value in flags.items() if name in OF_ONE_CALL and (name not in forgotten or name in typed(flags))
    }
    flags = {name: value for name, value in flags.items() if name not in OF_ONE_CALL}
    config = current().config(flags)
    values = {name: getattr(config, name) for name in Config.model_fields}
    if resuming:
        values = {name: value for name, value in values.items() if name in typed(flags) or name in always}
    return {name: str(value) if isinstance(value, Path) else value for name, value in {**values, **once}.items()}


def _unless_recorded(skills: list[str], options: dict[str, Any]) -> list[str]:
    """The skills to call, or none where recorded runs are judged: what was typed beats what is configured."""
    from eval_skills.core.errors import UsageError

    said = typed({"skills": skills, "traces": options["traces"]})
    if len(said) != 1:
        raise UsageError("--skills are called and --traces are not; give one of them")
    if "traces" in said:
        return []
    del options["traces"]
    options.pop("trace_skill", None)
    return skills


def refuse_calling(flags: dict[str, Any]) -> None:
    """Refuse what was typed beside --traces and speaks of calls; what is configured for them does not matter then.

    Raises:
        UsageError: one of the options was typed.
    """
    from eval_skills.core.errors import UsageError

    given = {name for name, value in typed(flags).items() if value is not None}
    for name in _OF_CALLS:
        if name in given:
            raise UsageError(f"{option_of(name)} is about skills that are called, and --traces calls none; leave one of them out")


def typed(flags: dict[str, Any]) -> dict[str, Any]:
    """Those of the options that the configuration did not give."""
    return {name: value for name, value in flags.items() if option_of(name) not in current().configured}


def request_of(model: type[Request], options: dict[str, Any], **own: Any) -> Request:
    """The request of those options that `model` has a field for, and of this command's `own`.

    Raises:
        UsageError: a value is not valid; the message names the option.
    """
    from eval_skills.core.documents.loading import validate
    from eval_skills.core.errors import InputError, UsageError

    fitting = {name: value for name, value in options.items() if name in model.model_fields}
    try:
        return validate(model, fitting | own)
    except InputError as error:
        raise UsageError(": ".join(filter(None, (option_of(error.path), error.message)))) from None
