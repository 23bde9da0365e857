"""``eval-skills monitor``."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from eval_skills.cli.configuration import Mark, Own
from eval_skills.cli.context import GATE_FAILED, UNFINISHED, current
from eval_skills.cli.metrics import LOOPBACK, MetricsHost, MetricsPort, metrics_at
from eval_skills.cli.options import HOW, RESULTS, JudgeFlags, Results, decimal, option, whole
from eval_skills.cli.requests import configured_options, flags_of, request_of, unused_judge_options
from eval_skills.cli.running import call_recorded, interrupted
from eval_skills.core.errors import UsageError

if TYPE_CHECKING:
    from eval_skills.cli.output.monitor import MonitorGate
    from eval_skills.engine.monitor.request import MonitorRequest
    from eval_skills.engine.monitor.summary import MonitorSummary

SAMPLED = Group("What is sampled", sort_key=1)
JUDGED = Group("How it is judged", sort_key=2)
HEALTH = Group("What is healthy", sort_key=2)


def monitor_command(
    log: Annotated[str, Mark.PATH, Parameter(group=SAMPLED, help="JSONL or Parquet file, or a folder of them")],
    /,
    *,
    rate: Annotated[
        float,
        Own("is a share of the interactions; the top level's is about requests to services"),
        Parameter(
            group=SAMPLED,
            converter=decimal,
            help="Share of the interactions to sample, above 0 and up to 1; the default is for busy logs, where a hundredth says "
            "enough and judging it costs little",
        ),
    ] = 0.01,
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
            "latencyMs, costUsd, finishReason, timestamp, skill",
        ),
    ] = None,
    evaluator: Annotated[str | None, option("evaluator", JUDGED, help="Scorer, where the task names none")] = None,
    expect: Annotated[
        str | None,
        Parameter(group=JUDGED, help="""What answers are compared with, as JSON: {"keywords": ["order"]}; the log's own wins"""),
    ] = None,
    task: Annotated[
        str | None,
        Mark.ID_OR_PATH,
        Parameter(group=JUDGED, help="JSON or YAML file with a task, or a benchmark's: BENCHMARK:TASK"),
    ] = None,
    benchmarks_dir: Annotated[Path | None, option("benchmarks_dir", JUDGED)] = None,
    allow_custom_code: Annotated[bool | None, option("allow_custom_code", JUDGED)] = None,
    concurrency: Annotated[int | None, option("concurrency", JUDGED, help="Answers judged at a time")] = None,
    window: Annotated[int, Parameter(group=HEALTH, converter=whole, help="Samples that the status looks back on")] = 200,
    min_sample: Annotated[
        int, Parameter(group=HEALTH, converter=whole, help="Fewer samples than this are insufficient_data")
    ] = 30,
    warning: Annotated[float, Parameter(group=HEALTH, converter=decimal, help="A pass rate below this is a warning")] = 0.85,
    critical: Annotated[float, Parameter(group=HEALTH, converter=decimal, help="A pass rate below this is critical")] = 0.7,
    hysteresis: Annotated[
        float,
        Parameter(group=HEALTH, converter=decimal, help="A change for the better is announced this far above its threshold"),
    ] = 0.02,
    follow: Annotated[bool, Parameter(group=HOW, help="Wait for more at the end of the log", show_default=False)] = False,
    interval: Annotated[
        float, Parameter(group=HOW, converter=decimal, help="With --follow: seconds between two looks at the log")
    ] = 10.0,
    idle_stop: Annotated[
        float | None,
        Parameter(group=HOW, converter=decimal, help="With --follow: stop after this many seconds without a new line"),
    ] = None,
    restart: Annotated[
        bool, Parameter(group=HOW, help="Begin at the start of the log, whatever was read before", show_default=False)
    ] = False,
    metrics_port: MetricsPort = None,
    metrics_host: MetricsHost = LOOPBACK,
    judging: JudgeFlags = JudgeFlags(),
    fail_on: Annotated[
        Literal["warning", "critical"] | None,
        Parameter(group=RESULTS, help="Exit 1 when the status at the end is this or worse, or insufficient_data"),
    ] = None,
    max_silence: Annotated[
        float | None,
        Parameter(
            group=RESULTS, converter=decimal, help="Exit 1 when the log has had no new record for more than this many seconds"
        ),
    ] = None,
    store: Results = None,
) -> int:
    """Sample a log of production interactions, judge the sample, and report when its health changes.

    The status is that of the last --window samples: healthy, warning, critical, or insufficient_data. A change is the Prefect
    event eval-skills.monitor-status. The next call continues where this one stopped reading. An interaction that the log repeats,
    with the same id and content, counts once within the window.

    Example: eval-skills monitor ./support.jsonl --rate 0.2 --evaluator contains

    Example: eval-skills monitor ./logs --task ./expected.yaml --fail-on critical

    Example: eval-skills monitor ./logs --task coding-easy:add --follow
    """
    from eval_skills.cli.output.monitor import MonitorGate
    from eval_skills.engine.monitor.request import MonitorRequest

    own = {
        "log": log, "rate": rate, "seed": seed, "skill": skill, "task": task, "window": window, "min_sample": min_sample,
        "warning": warning, "critical": critical, "hysteresis": hysteresis, "follow": follow, "interval_s": interval,
        "idle_stop_s": idle_stop, "restart": restart, "fields": _fields(field or []), "expected_output": _expectation(expect),
    }  # fmt: skip
    flags = flags_of(
        judging, evaluator=evaluator, allow_custom_code=allow_custom_code, concurrency=concurrency, store=store,
        benchmarks_dir=benchmarks_dir,
    )  # fmt: skip
    request = request_of(MonitorRequest, configured_options(MonitorRequest, flags) | own)
    if max_silence is not None and not max_silence > 0:
        raise UsageError(f"--max-silence: give a number of seconds above 0; got {max_silence}")
    if metrics_port is not None and not follow:
        raise UsageError("--metrics-port needs --follow: without it the call ends before anybody could ask")
    with metrics_at(metrics_port, metrics_host, request.store):
        return _run(request, MonitorGate(fail_on, max_silence), judging)


def _run(request: MonitorRequest, gate: MonitorGate, judging: JudgeFlags) -> int:
    from eval_skills.cli.output.monitor import show_monitor
    from eval_skills.engine.monitor.session import check_monitor

    task = check_monitor(request)  # before a server is started for nothing
    for remark in unused_judge_options(judging, task.scorings) if task.scorings else ():  # else the log itself says how to score
        current().remark(remark)
    if gate.is_asked and request.follow and request.idle_stop_s is None:
        current().remark("the gate is judged at the end: --follow only comes to one if --idle-stop SECONDS is given, too")
    summary = _watched(request)
    why_not = gate.why_not(summary, datetime.now(UTC))
    show_monitor(summary, gate, why_not)
    if summary.unrecorded is not None:
        missing = "Prefect's records of them are not, and changes of the status since then raised no event"
        current().remark(f"the samples are complete; {missing} ({summary.unrecorded})", style="red")
    if summary.judge_failed or summary.unrecorded:
        return UNFINISHED
    return GATE_FAILED if why_not else 0


def _watched(request: MonitorRequest) -> MonitorSummary:
    from eval_skills.cli.output.monitor import MonitorDisplay
    from eval_skills.engine.monitor.summary import observed_monitors

    watcher = MonitorDisplay()

    def left() -> str:
        status = f"; the last change was to {watcher.last}" if watcher.last else ""
        return f"interrupted{status}; the same command continues where this one stopped"

    with observed_monitors.by(watcher), interrupted(left):
        return call_recorded("monitor", request, what="samples")


def _fields(pairs: list[str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for pair in pairs:
        name, sign, key = pair.partition("=")
        if not (name and sign and key) or name in fields:
            raise UsageError(f"--field {pair}: give each field once, as NAME=KEY, such as output=reply.text")
        fields[name] = key
    return fields


def _expectation(text: str | None) -> Any:
    if text is None:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f'--expect: not valid JSON ({error}); give an object such as {{"keywords": ["order"]}}') from None
    if not isinstance(found, dict):
        raise UsageError(f'--expect {text}: give an object such as {{"keywords": ["order"]}} or {{"value": 42}}')
    return found
