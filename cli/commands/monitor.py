"""``eval-skills monitor``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from eval_skills.cli.configuration import Mark
from eval_skills.cli.context import current
from eval_skills.cli.options import HOW, RESULTS, JudgeFlags, flags_of, whole

if TYPE_CHECKING:
    from eval_skills.engine.monitor.request import MonitorRequest

SAMPLED = Group("What is sampled", sort_key=1)
JUDGED = Group("How it is judged", sort_key=2)
HEALTH = Group("What is healthy", sort_key=2)


def monitor_command(
    log: Annotated[str, Mark.PATH, Parameter(group=SAMPLED, help="JSONL or Parquet file, or a folder of them")],
    /,
    *,
    rate: Annotated[float, Parameter(group=SAMPLED, help="Share of the interactions to sample, above 0 and up to 1")] = 0.1,
    seed: Annotated[
        int, Parameter(group=SAMPLED, converter=whole, help="The same seed draws the same interactions, in any order")
    ] = 0,
    skill: Annotated[str | None, Parameter(group=SAMPLED, help="Only interactions of this skill or agent")] = None,
    field: Annotated[
        list[str] | None,
        Parameter(
            group=SAMPLED,
            consume_multiple=1,
            help="Where the log keeps what, such as output=reply.text: id, input, output, messages, toolCalls, expected, error, "
            "latencyMs, costUsd, timestamp, skill",
        ),
    ] = None,
    evaluator: Annotated[
        str | None, Mark.SHARED, Parameter(group=JUDGED, help="Scorer, where the task names none [default: exact]")
    ] = None,
    expect: Annotated[
        str | None,
        Parameter(group=JUDGED, help="""What answers are compared with, as JSON: {"keywords": ["order"]}; the log's own wins"""),
    ] = None,
    task: Annotated[
        str | None,
        Mark.ID_OR_PATH,
        Parameter(group=JUDGED, help="JSON or YAML file with a task, or a benchmark's: BENCHMARK:TASK"),
    ] = None,
    benchmarks_dir: Annotated[
        Path | None, Mark.SHARED, Parameter(group=JUDGED, help="Folder of benchmarks, searched before the built-in ones")
    ] = None,
    allow_custom_code: Annotated[
        bool | None, Mark.SHARED, Parameter(group=JUDGED, help="Let the task run its own scorer code", show_default=False)
    ] = None,
    concurrency: Annotated[
        int | None, Mark.SHARED, Parameter(group=JUDGED, converter=whole, help="Answers judged at a time [default: 4]")
    ] = None,
    window: Annotated[int, Parameter(group=HEALTH, converter=whole, help="Samples that the status looks back on")] = 200,
    min_sample: Annotated[
        int, Parameter(group=HEALTH, converter=whole, help="Fewer samples than this are insufficient_data")
    ] = 30,
    warning: Annotated[float, Parameter(group=HEALTH, help="A pass rate below this is a warning")] = 0.85,
    critical: Annotated[float, Parameter(group=HEALTH, help="A pass rate below this is critical")] = 0.7,
    hysteresis: Annotated[
        float, Parameter(group=HEALTH, help="A change for the better is announced this far above its threshold")
    ] = 0.02,
    follow: Annotated[bool, Parameter(group=HOW, help="Wait for more at the end of the log", show_default=False)] = False,
    interval: Annotated[float, Parameter(group=HOW, help="With --follow: seconds between two looks at the log")] = 10.0,
    idle_stop: Annotated[
        float | None, Parameter(group=HOW, help="With --follow: stop after so many seconds without a new line")
    ] = None,
    restart: Annotated[
        bool, Parameter(group=HOW, help="Begin at the start of the log, whatever was read before", show_default=False)
    ] = False,
    judging: JudgeFlags = JudgeFlags(),
    fail_on: Annotated[
        Literal["warning", "critical"] | None,
        Parameter(group=RESULTS, help="Exit 1 when the status at the end is this or worse, or insufficient_data"),
    ] = None,
    store: Annotated[
        str | None, Mark.SHARED, Parameter(group=RESULTS, help="Where samples are kept [default: ./eval-store]")
    ] = None,
) -> int:
    """Sample a log of production interactions, judge the sample, and tell when its health changes.

    The status is that of the last --window samples: healthy, warning, critical, or insufficient_data. A change is the Prefect
    event eval-skills.monitor-status. The next call goes on where this one stopped reading.

    Example: eval-skills monitor ./support.jsonl --rate 0.2 --evaluator contains

    Example: eval-skills monitor ./logs --task ./expected.yaml --fail-on critical

    Example: eval-skills monitor ./logs --task coding-easy:add --follow
    """
    from eval_skills.cli.output.monitor import run_monitor

    own = {
        "log": log, "rate": rate, "seed": seed, "skill": skill, "task": task, "window": window, "min_sample": min_sample,
        "warning": warning, "critical": critical, "hysteresis": hysteresis, "follow": follow, "interval_s": interval,
        "idle_stop_s": idle_stop, "restart": restart, "fields": _fields(field or []), "expected_output": _expectation(expect),
    }  # fmt: skip
    shared = {"evaluator": evaluator, "allow_custom_code": allow_custom_code, "concurrency": concurrency, "store": store}
    return run_monitor(_request(own, shared | {"benchmarks_dir": benchmarks_dir}, flags_of(judging)), fail_on, judging)


def _request(own: dict[str, Any], shared: dict[str, Any], judging: dict[str, Any]) -> MonitorRequest:
    from eval_skills.core.config.options import JudgeOptions
    from eval_skills.core.documents.loading import validate
    from eval_skills.core.errors import InputError, UsageError
    from eval_skills.engine.monitor.request import MonitorRequest

    config = current().config({name: value for name, value in (shared | judging).items() if value is not None})
    named = [*shared, *JudgeOptions.model_fields, "weights", "tool_categories", "tool_names", "secrets"]
    options = {name: getattr(config, name) for name in named}
    options["benchmarks_dir"] = str(config.benchmarks_dir) if config.benchmarks_dir else None
    try:
        return validate(MonitorRequest, options | own)
    except InputError as error:
        raise UsageError(": ".join(filter(None, (_option(error.path), error.message)))) from None


def _option(path: str) -> str:
    """``--min-sample`` for the place ``min_sample`` of a request; "" for none."""
    name, _, inside = path.partition(".")
    kebab = name.replace("_", "-")
    renamed = {"fields": "field", "expected-output": "expect", "interval-s": "interval", "idle-stop-s": "idle-stop"}
    option = "LOG" if name == "log" else name and f"--{renamed.get(kebab, kebab)}"
    return " ".join(filter(None, (option, inside)))


def _fields(pairs: list[str]) -> dict[str, str]:
    from eval_skills.core.errors import UsageError

    fields: dict[str, str] = {}
    for pair in pairs:
        name, sign, key = pair.partition("=")
        if not (name and sign and key) or name in fields:
            raise UsageError(f"--field {pair}: give each field once, as NAME=KEY, such as output=reply.text")
        fields[name] = key
    return fields


def _expectation(text: str | None) -> Any:
    import json

    from eval_skills.core.errors import UsageError

    if text is None:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f'--expect: not valid JSON ({error}); give an object such as {{"keywords": ["order"]}}') from None
    if not isinstance(found, dict):
        raise UsageError(f'--expect {text}: give an object such as {{"keywords": ["order"]}} or {{"value": 42}}')
    return found
