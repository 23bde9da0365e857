"""``eval-skills eval``: the core command."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from cyclopts import Parameter

from eval_skills.cli.options import BenchmarkOptions, ExecutionOptions, ReportOptions, flags_of, option_of
from eval_skills.cli.session import current

if TYPE_CHECKING:
    from eval_skills.tasks.request import RunOptions

Request = TypeVar("Request", bound="RunOptions")
OF_ONE_CALL = ("tasks", "resume", "retry_errors", "dry_run")
"""Options of one call only: no configuration file may set them."""


def eval_command(
    *,
    skills: Annotated[
        list[str] | None,
        Parameter(consume_multiple=1, help="skill.json files, skill folders or folders of skills [required unless --resume]"),
    ] = None,
    tag: Annotated[
        list[str] | None, Parameter(name=["-t", "--tag"], consume_multiple=1, help="Only tasks with all of these tags")
    ] = None,
    min_completion: Annotated[float | None, Parameter(help="Completion rate that --exit-on-fail asks for [default: 0.7]")] = None,
    what: BenchmarkOptions = BenchmarkOptions(),
    how: ExecutionOptions = ExecutionOptions(),
    reports: ReportOptions = ReportOptions(),
) -> int:
    """Evaluate skills on a benchmark.

    Every skill answers every task, as often as --runs says; each of these items is one Prefect task run. Results are kept in
    the store, reports are written, and a ranking is printed.

    Example: eval-skills eval --skills ./examples/skills --benchmark coding-easy
    """
    from eval_skills.cli.running import run_flow
    from eval_skills.core.errors import UsageError
    from eval_skills.tasks.request import EvaluateRequest

    if not skills and not how.resume:
        raise UsageError("--skills is required: name skill.json files, skill folders, or folders of skills")
    options = request_options(flags_of(what, how, reports, min_completion=min_completion), resuming=bool(how.resume))
    request = request_of(EvaluateRequest, options, skills=skills or [], task_tags=tag or [])
    return run_flow(request, dry_run=how.dry_run, exit_on_fail=bool(options["exit_on_fail"]))


def request_options(
    flags: dict[str, Any], *, resuming: bool, always: Collection[str] = ("store", "exit_on_fail")
) -> dict[str, Any]:
    """The request's fields: configuration layers below, flags on top.

    A resume names only what this call says anew, and what is `always` its own.
    """
    once = {name: flags.pop(name) for name in OF_ONE_CALL if name in flags}
    config = current().config(flags)
    values = {name: getattr(config, name) for name in type(config).model_fields}
    if resuming:
        values = {name: value for name, value in values.items() if name in flags or name in always}
    return {name: str(value) if isinstance(value, Path) else value for name, value in {**values, **once}.items()}


def request_of(model: type[Request], options: dict[str, Any], **own: Any) -> Request:
    """The request of those options that `model` has a field for, and of this command's `own`.

    Raises:
        UsageError: a value is not valid; the message names the option.
    """
    from eval_skills.core.errors import InputError, UsageError
    from eval_skills.core.loading import validate

    fitting = {name: value for name, value in options.items() if name in model.model_fields}
    try:
        return validate(model, fitting | own)
    except InputError as error:
        raise UsageError(": ".join(filter(None, (option_of(error.path), error.message)))) from None
