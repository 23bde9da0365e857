"""Options that several commands take, made from those of `core.config`, and how numbers and dates are typed.

An option that was not given is None. cyclopts could flatten the pydantic models themselves, but it hands them the typed text,
which strict models refuse, and it adds a second spelling of every option (``--benchmarksdir``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, get_args, get_origin

from cyclopts import Group, Parameter, Token

from eval_skills.cli.configuration import KeyOf
from eval_skills.core.config import PATH, Config
from eval_skills.core.config.keys import is_optional, without_marks
from eval_skills.core.config.options import CallOptions, TaskChoice, option_of
from eval_skills.core.config.values import AUTO, ProcessLimits, RunLimits

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

EVALUATED = Group("What is evaluated", sort_key=1)
FOUND = Group("What is found", sort_key=1)
COMPARED = Group("What is compared", sort_key=1)
SHOWN = Group("What is shown", sort_key=1)
SELECTED = Group("What is selected", sort_key=2)
ANSWERS = Group("Answers that are kept, or are there already", sort_key=2)
HOW = Group("How it runs", sort_key=3)
HELD = Group("Limits of skill processes (a skill may set lower ones)", sort_key=4)
BOUNDED = Group("Limits of the run", sort_key=5)
JUDGED = Group("Judging with a model", sort_key=6)
RESULTS = Group("Results", sort_key=7)

_ANNOTATED: Any = Annotated
_FIELDS = CallOptions.model_fields | Config.model_fields
Class = TypeVar("Class")


def whole(_: Any, tokens: Sequence[Token]) -> int:
    """The whole number that was typed, in decimal digits.

    Raises:
        ValueError: it is anything else; the default reader would make 2 of 1.5, and 16 of 0x10.
    """
    text = tokens[0].value
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        raise ValueError(f"give a whole number; got {text!r}")
    return int(text)


def decimal(_: Any, tokens: Sequence[Token]) -> float:
    """The number that was typed, in decimal digits: ``1``, ``0.5``, ``.5`` or ``1e-3``.

    Raises:
        ValueError: it is anything else, such as ``0,5``, ``70%``, ``nan`` or ``inf``.
    """
    text = tokens[0].value
    if not re.fullmatch(r"[+-]?([0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})([eE][+-]?[0-9]{1,2})?", text):
        raise ValueError(f"give a number such as 0.5; got {text!r}")
    return float(text)


def whole_or_auto(_: Any, tokens: Sequence[Token]) -> str:
    """The whole number that was typed, or ``auto``; as text, which the option's own check reads.

    Raises:
        ValueError: it is neither.
    """
    try:
        return AUTO if tokens[0].value == AUTO else str(whole(_, tokens))
    except ValueError as error:
        raise ValueError(str(error).replace("give", f"give {AUTO} or", 1)) from None


_AGO = re.compile(r"([0-9]{1,5})([hdw])")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def from_moment(_: Any, tokens: Sequence[Token]) -> datetime:
    """The first moment that is meant by ``2026-01-31`` or ``30d`` (thirty days ago); days are those of UTC.

    Raises:
        ValueError: it is neither a date nor a span such as 12h, 30d or 4w.
    """
    return _moment(tokens[0].value, timedelta(0))


def to_moment(_: Any, tokens: Sequence[Token]) -> datetime:
    """The first moment after what is meant: of a day, its end.

    Raises:
        ValueError: it is neither a date nor a span such as 12h, 30d or 4w.
    """
    return _moment(tokens[0].value, timedelta(days=1))


def _moment(text: str, of_a_day: timedelta) -> datetime:
    try:
        if ago := _AGO.fullmatch(text):
            return datetime.now(UTC) - int(ago[1]) * _UNITS[ago[2]]
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            raise ValueError
        return datetime.combine(date.fromisoformat(text), time(tzinfo=UTC)) + of_a_day
    except (ValueError, OverflowError):
        raise ValueError(f"give a day such as 2026-01-31, or a time ago such as 12h, 30d or 4w; got {text!r}") from None


def option(name: str, group: Group | None = None, *, help: str | None = None, default: str | None = None) -> Parameter:  # noqa: A002
    """The parameter for an option of `core.config`, by its field's name: its help text and default come from there.

    `help` and `default` say otherwise where a command means something narrower.
    """
    field = _FIELDS[name]
    hint = _hint(field)
    is_list = get_origin(hint) is list
    text = _described(help or field.description or "", default or _shown(field))
    more: dict[str, Any] = (
        {"converter": reader}
        if (reader := _READERS.get(name) or _NUMBERS.get(hint))
        else {"consume_multiple": 1}
        if is_list
        else {"n_tokens": 0}  # the scripts that cyclopts writes for shells take `bool | None` for an option with a value
        if hint is bool
        else {}
    )
    more |= {"group": group} if group else {}
    more |= {"name": _NAMES[name]} if name in _NAMES else {}
    return Parameter(help=text, show_default=False, **more)


_NUMBERS: dict[Any, Callable[[Any, Sequence[Token]], Any]] = {int: whole, float: decimal}

_READERS: dict[str, Callable[[Any, Sequence[Token]], Any]] = {"items_per_task": whole_or_auto}
"""How options are read that may be one kind of thing or another; in help they are text."""

_NAMES = {"filter": ["--filter", "--task-filter"], "first": ["--first", "--limit"]}
"""Options that have more than one name; the first is that of the configuration's key."""


def _described(text: str, default: str) -> str:
    return f"{text} [default: {default}]" if default and "[default: " not in text else text


def _shown(field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True)
    if isinstance(default, bool) or default is None:
        return ""
    return " ".join(default) if isinstance(default, list) else str(default)


def _hint(field: FieldInfo) -> Any:
    """What is typed for the field: bounds are checked with the configuration, where the message can name the place."""
    kind, marks = field.annotation, field.metadata
    if is_optional(kind):
        kind = next(part for part in get_args(kind) if part is not type(None))
        marks = [*marks, *getattr(kind, "__metadata__", ())]
    kind = without_marks(kind)
    if PATH in marks:
        return Path
    if get_origin(kind) in (Union, UnionType):
        return str
    return list[str] if get_origin(kind) is list else kind


if TYPE_CHECKING:

    class Flags:
        """Options that several commands take together."""

        def __getattr__(self, name: str) -> Any: ...
else:
    Flags = object  # cyclopts reads the source of every class that it finds here, for texts that the options have already


def options(group: Group, *names: str) -> Callable[[type[Class]], type[Class]]:
    """Give a class of `Flags` a field for each of these options, after those of its own."""

    def declare(flags: type[Class]) -> type[Class]:
        for name in names:
            field = option_of(name).removeprefix("--").replace("-", "_")
            flags.__annotations__[field] = _ANNOTATED[_hint(_FIELDS[name]) | None, option(name, group)]
            setattr(flags, field, None)
        return Parameter(name="*")(dataclass(frozen=True, kw_only=True)(flags))

    return declare


TasksFile = Annotated[Path | None, option("tasks", EVALUATED)]
BenchmarksFolder = Annotated[
    Path | None,
    option("benchmarks_dir", EVALUATED, help="Folder of benchmarks, searched before the built-in ones", default="the run's own"),
]
CustomCode = Annotated[bool | None, option("allow_custom_code", HOW)]
ItemConcurrency = Annotated[int | None, option("concurrency", HOW)]
StrategyFile = Annotated[Path | None, option("strategy", SELECTED)]
TopK = Annotated[int | None, option("top_k", SELECTED, default="all")]
KeepTies = Annotated[bool | None, option("keep_ties", SELECTED)]
SkillsFolder = Annotated[Path | None, option("skills_dir", EVALUATED)]
Results = Annotated[str | None, option("store", RESULTS)]
PastResults = Annotated[str | None, option("store", RESULTS, help="Store of past results: a folder, a .db file, or a URL")]


@options(
    EVALUATED,
    "benchmark",
    "skip_unreadable",
    "tasks",
    "map",
    "own_tests",
    "benchmarks_dir",
    *TaskChoice.model_fields,
)
class BenchmarkOptions(Flags):
    """The benchmark, and which of its tasks."""


@options(ANSWERS, "traces", "trace_skill", "record", "replay", "cache", "cache_runs")
class AnswerOptions(Flags):
    """Where answers come from, if not from a call, and where they are kept."""


@options(EVALUATED, *TaskChoice.model_fields)
class TaskChoiceOptions(Flags):
    """Which tasks are meant."""


@options(
    HOW, "runs", "concurrency", "timeout_ms", "retries", "evaluator", "items_per_task", "task_runner", "resume", "retry_errors",
    "fail_fast", "allow_custom_code", "until", "against", "max_runs",
)  # fmt: skip
class ExecutionOptions(Flags):
    """How items are executed."""

    dry_run: Annotated[
        bool,
        Parameter(group=HOW, help="Check everything and print the plan; call nothing, write nothing", show_default=False),
    ] = False


@options(
    HOW, "runs", "concurrency", "timeout_ms", "retries", "items_per_task", "task_runner", "resume", "retry_errors",
    "allow_custom_code",
)  # fmt: skip
class ExperimentOptions(Flags):
    """How the items of an experiment are executed."""

    dry_run: Annotated[
        bool,
        Parameter(group=HOW, help="Check everything and print the plan; call nothing, land nothing", show_default=False),
    ] = False


@options(HELD, *ProcessLimits.model_fields)
class ProcessOptions(Flags):
    """The limits of skill processes."""


@options(BOUNDED, *RunLimits.model_fields)
class LimitOptions(Flags):
    """When a run begins no other item."""


@options(RESULTS, "format", "output_dir", "store", "exit_on_fail")
class ReportOptions(Flags):
    """What is written, and what must hold."""


@options(RESULTS, "format", "output_dir", "store")
class ExperimentReports(Flags):
    """What is written of an experiment."""


@options(JUDGED, "judge_concurrency", "max_judge_cost", "no_judge_cache", "no_judge_check")
class JudgeFlags(Flags):
    """How models judge, where tasks ask for that."""

    judge_model: Annotated[
        str | None,
        KeyOf(("llm", "model")),
        Parameter(group=JUDGED, help="Model that judges, as PROVIDER/MODEL; llm.apiBase and llm.apiKeyEnv go with it"),
    ] = None
