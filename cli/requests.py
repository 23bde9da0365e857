"""From the options of a command to the request of a flow: the configuration below, what was typed on top."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from eval_skills.cli.context import current
from eval_skills.cli.options import Flags, JudgeFlags
from eval_skills.core.config import Config
from eval_skills.core.config.options import TaskChoice, option_of
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.text import plural

if TYPE_CHECKING:
    from eval_skills.core.models import EvalTask, Model
    from eval_skills.engine.definition.request import EvaluateRequest, PipelineRequest
    from eval_skills.scorers import TaskScoring

Request = TypeVar("Request", bound="Model")
_ASKED = (
    "tasks", "map", "own_tests", *TaskChoice.model_fields, "traces", "trace_skill", "record", "replay", "cache", "cache_runs",
    "until", "against", "max_runs",
)  # fmt: skip
OF_ONE_CALL = (*_ASKED, "resume", "retry_errors", "dry_run")
"""Options that the configuration's top level does not know."""

_OF_THE_GATE = {"exit_on_fail": "exitOnFail", "min_completion": "minCompletion"}
"""What a run is held to, as options and as keys."""

_OF_CALLS = ("skills_dir", "query", "tags", "adapter", "runs", "retries", "max_cost", "max_tokens")
_JUDGED_BY = (
    "a task is judged by one where its evaluator is llm_judge, goal_achieved, rubric, trajectory_judge or hallucination, where "
    "its checks.hallucination has the mode judged or both, and where it has a simulated user"
)


def flags_of(*groups: Flags, **more: Any) -> dict[str, Any]:
    """The options that were given, under the configuration's names; paths as text."""
    flags = {field.name: getattr(group, field.name) for group in groups for field in fields(group)} | more  # type: ignore[arg-type]
    flags["timeout_ms"] = flags.pop("timeout", None)
    flags["task_ids"] = flags.pop("task", None)
    flags["max_duration_s"] = flags.pop("max_duration", None)
    if (model := flags.pop("judge_model", None)) is not None:
        flags["llm"] = {"model": model}
    return {name: str(value) if isinstance(value, Path) else value for name, value in flags.items() if value is not None}


def request_options(
    flags: dict[str, Any], *, resuming: bool, always: Collection[str] = ("store", "exit_on_fail")
) -> dict[str, Any]:
    """The request's fields: configuration layers below, flags on top.

    A resume names only what was typed, and the options in `always`; of these the gate only where anything says it: else that of
    the run holds.
    """
    forgotten = {*_ASKED} if resuming else {"retry_errors"}  # what is configured for the other kind of call
    once = {
        name: value for name, value in flags.items() if name in OF_ONE_CALL and (name not in forgotten or name in typed(flags))
    }
    flags = {name: value for name, value in flags.items() if name not in OF_ONE_CALL}
    config = current().config(flags)
    values = {name: getattr(config, name) for name in Config.model_fields}
    if resuming:
        kept = {*always} - {name for name, key in _OF_THE_GATE.items() if name not in flags and not is_configured(key)}
        values = {name: value for name, value in values.items() if name in typed(flags) or name in kept}
    return {**values, **once}


def is_configured(key: str) -> bool:
    """Whether a layer of the configuration says anything of a key of its top level."""
    return not current().is_silent and current().layers({}).said((key,)) is not None


def configured_options(model: type[Model], flags: dict[str, Any], without: Collection[str] = ()) -> dict[str, Any]:
    """What the configuration, with `flags` on top, says of the fields of `model`."""
    layered = current().layers(flags)
    # ./benchmarks is there for new runs: stored ones were judged by the benchmarks of their own place
    unsaid = set() if layered.said(("benchmarksDir",)) else {"benchmarks_dir"}
    names = Config.model_fields.keys() & model.model_fields.keys() - {*without} - unsaid
    return {name: getattr(layered.config, name) for name in names}


def request_of(model: type[Request], options: dict[str, Any], **own: Any) -> Request:
    """The request of those options that `model` has a field for, and of this command's `own`.

    Raises:
        UsageError: a value is not valid; the message names the option.
    """
    from eval_skills.core.documents.loading import validate

    given = {name: value for name, value in options.items() if name in model.model_fields} | own
    _refuse_other_than_utf8(given)
    try:
        return validate(model, given)
    except InputError as error:
        raise UsageError(": ".join(filter(None, (option_of(error.path), error.message)))) from None


def _refuse_other_than_utf8(options: Mapping[str, Any]) -> None:
    from eval_skills.core.documents.loading import is_utf8

    for name, value in options.items():
        for text in value if isinstance(value, list | tuple) else [value]:
            if isinstance(text, str | os.PathLike) and not is_utf8(os.fspath(text)):
                said = f"{option_of(name)}: {os.fspath(text)!r} is not UTF-8, and no run could record it"
                raise UsageError(f"{said}; rename that file or folder")


def with_own_tests_settled(flags: dict[str, Any]) -> dict[str, Any]:
    """The options of which either the skills' own tests or tasks for all remain: what was typed beats what is configured.

    Raises:
        UsageError: both were typed.
    """
    if not flags.get("own_tests"):
        return flags
    said = typed({name: flags[name] for name in ("own_tests", "benchmark", "tasks") if flags.get(name)})
    others = [option_of(name) for name in said if name != "own_tests"]
    if others and "own_tests" in said:
        raise UsageError(f"--own-tests asks every skill its own tests, and {others[0]} names others; leave one of them out")
    dropped = {"own_tests"} if others else {"tasks", "map"}
    return {name: value for name, value in flags.items() if name not in dropped}


def refuse_calling(flags: dict[str, Any]) -> None:
    """Refuse what was typed beside --traces and is about calls; what is configured for them does not matter then.

    Raises:
        UsageError: one of the options was typed.
    """
    named = {name for name, value in typed(flags).items() if value is not None}
    for name in _OF_CALLS:
        if name in named:
            raise UsageError(f"{option_of(name)} is about skills that are called, and --traces calls none; leave one of them out")


def typed(flags: dict[str, Any]) -> dict[str, Any]:
    """Those of the options that the configuration did not give."""
    return {name: value for name, value in flags.items() if option_of(name) not in current().configured}


@contextmanager
def viewer_known() -> Iterator[None]:
    """Inside, the flows of this process, and of those that it starts, link to the viewer whose address is configured.

    Raises:
        UsageError: what is configured is not an address.
    """
    from eval_skills.core.viewer_pages import BASE_URL

    before, configured = os.environ.get(BASE_URL), _viewer()
    if configured is not None:
        os.environ[BASE_URL] = configured
    try:
        yield
    finally:
        if before is not None:
            os.environ[BASE_URL] = before
        else:
            os.environ.pop(BASE_URL, None)


def _viewer() -> str | None:
    from eval_skills.core.viewer_pages import checked_base_url

    if current().is_silent:
        return None
    said = replace(current(), command=("view",)).layers({}).said(("view", "baseUrl"))
    if said is None or said[1].value is None:
        return None
    try:
        return checked_base_url(said[1].value)
    except UsageError as error:
        raise UsageError(f"{said[1].place}: view.baseUrl: {error}") from None


def todays_settings() -> dict[str, Any]:
    """What the configuration says today of weights, categories and names of tools; nothing where it says nothing."""
    layers = current().layers({})
    said = {leaf[0] for layer in layers.layers for leaf in layer}
    keys = {"weights": "weights", "tool_categories": "toolCategories", "tool_names": "toolNames"}
    return {name: getattr(layers.config, name) for name, key in keys.items() if key in said}


def unused_judge_options(judging: JudgeFlags, scorings: Mapping[str, TaskScoring]) -> list[str]:
    """A warning for judging options that were typed and change nothing: no task asks a model, or none asks the named one.

    What the configuration says holds for many calls, so nothing is said of that.
    """
    options = typed_options(judging)
    asked = {model: None for each in scorings.values() for model in (*each.models, *each.simulators)}
    if options and not asked:
        do = "does" if len(options) == 1 else "do"
        return [f"{listed(options)} {do} nothing here: no task is judged by a model; {_JUDGED_BY}"]
    if "--judge-model" in options and None not in asked:
        names = ", ".join(str(model) for model in asked)
        return [f"--judge-model {judging.judge_model} is not used: every task that a model judges names its own ({names})"]
    return []


def overridden_timeout(request: EvaluateRequest | PipelineRequest, tasks: Sequence[EvalTask]) -> list[str]:
    """A warning for a ``--timeout`` that was typed and does not hold for tasks that have a limit of their own.

    What the configuration says holds for many calls, so nothing is said of that.
    """
    own = [task.timeout_ms for task in tasks if task.timeout_ms is not None]
    usual = type(request).model_fields["timeout_ms"].default
    if not own or request.timeout_ms == usual or "--timeout" in current().configured:
        return []
    those = f"{len(own)} of {plural(len(tasks), 'task')}, up to {max(own)} ms"
    return [f"--timeout {request.timeout_ms} does not hold for tasks with a timeoutMs of their own: {those}"]


def listed(options: list[str]) -> str:
    """``--a``, ``--a and --b``, ``--a, --b and --c``."""
    *first, last = options
    return f"{', '.join(first)} and {last}" if first else last


def typed_options(judging: JudgeFlags) -> list[str]:
    """The judging options that the command line named, in the order of the help."""
    named = {option_of(field.name): getattr(judging, field.name) for field in fields(judging)}  # type: ignore[arg-type]
    return [option for option, value in named.items() if value is not None and option not in current().configured]
