"""``eval-skills eval``: the core command."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from cyclopts import Parameter

from eval_skills.cli.configurable import Mark
from eval_skills.cli.options import EVALUATED, RESULTS, BenchmarkOptions, ExecutionOptions, ReportOptions, flags_of, option_of
from eval_skills.cli.session import current

if TYPE_CHECKING:
    from eval_skills.core.models import Model

Request = TypeVar("Request", bound="Model")
OF_ONE_CALL = ("tasks", "resume", "retry_errors", "dry_run")
"""Options that the configuration's top level does not know."""


def eval_command(
    *,
    skills: Annotated[
        list[str] | None,
        Mark.PATH,
        Parameter(
            group=EVALUATED,
            consume_multiple=1,
            help="skill.json files, skill folders or folders of skills [required unless --resume]",
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
    reports: ReportOptions = ReportOptions(),
) -> int:
    """Evaluate skills on a benchmark.

    Every skill answers every task, as often as --runs says; each of these items is one Prefect task run. Results are kept in
    the store, reports are written, and a ranking is printed.

    Example: eval-skills eval --skills ./examples/skills --benchmark coding-easy

    Example: eval-skills eval --skills ./a ./b --runs 3 --format html --exit-on-fail

    Example: eval-skills eval --resume latest
    """
    from eval_skills.cli.running import run_flow
    from eval_skills.core.errors import UsageError
    from eval_skills.tasks.request import EvaluateRequest

    if not skills and not how.resume:
        raise UsageError("--skills is required: name skill.json files, skill folders, or folders of skills")
    options = request_options(flags_of(what, how, reports, min_completion=min_completion), resuming=bool(how.resume))
    own = {"skills": skills or [], "task_tags": tag or []}
    request = request_of(EvaluateRequest, options, **(typed(own) if how.resume else own))
    return run_flow(request, dry_run=how.dry_run, exit_on_fail=bool(options["exit_on_fail"]))


def request_options(
    flags: dict[str, Any], *, resuming: bool, always: Collection[str] = ("store", "exit_on_fail")
) -> dict[str, Any]:
    """The request's fields: configuration layers below, flags on top.

    A resume names only what was typed, as said anew, and what is `always` its own.
    """
    from eval_skills.core.config import Config

    forgotten = {"tasks"} if resuming else {"retry_errors"}  # what is configured for the other kind of call
    once = {
        name: value for name, value in flags.items() if name in OF_ONE_CALL and (name not in forgotten or name in typed(flags))
    }
    flags = {name: value for name, value in flags.items() if name not in OF_ONE_CALL}
    config = current().config(flags)
    values = {name: getattr(config, name) for name in Config.model_fields}
    if resuming:
        values = {name: value for name, value in values.items() if name in typed(flags) or name in always}
    return {name: str(value) if isinstance(value, Path) else value for name, value in {**values, **once}.items()}


def typed(flags: dict[str, Any]) -> dict[str, Any]:
    """Those of the options that the configuration did not give."""
    return {name: value for name, value in flags.items() if option_of(name) not in current().configured}


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
