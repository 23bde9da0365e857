"""``eval-skills backfill``.

The call of the flow `backfill`, and what it tells while it works.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from eval_skills.cli.configuration import Mark
from eval_skills.cli.context import current
from eval_skills.cli.moments import from_moment, to_moment
from eval_skills.cli.options import (
    EVALUATED,
    HOW,
    RESULTS,
    BenchmarksFolder,
    CustomCode,
    JudgeFlags,
    PastResults,
    ProcessOptions,
    TasksFile,
    flags_of,
    whole,
)

if TYPE_CHECKING:
    from eval_skills.cli.options import JudgeFlags
    from eval_skills.engine.backfill.plan import BackfillPlan
    from eval_skills.engine.backfill.request import BackfillRequest
    from eval_skills.engine.backfill.summary import BackfillSummary

UNFINISHED = 3

Mode = Literal["recompute", "rescore", "replay"]
Every = Literal["day", "week", "run", "tag"]
REBUILT = Group("What is rebuilt", sort_key=1)
PAGES = frozenset({".html", ".htm"})


def backfill_command(
    *,
    mode: Annotated[
        Mode,
        Parameter(
            group=REBUILT,
            help="recompute: reports from stored items; rescore: stored answers judged again; replay: past revisions evaluated",
        ),
    ],
    since: Annotated[
        datetime | None,
        Parameter(
            group=REBUILT,
            converter=from_moment,
            help="Begin with this day (2026-01-01), or this long ago (12h, 30d, 4w) [default: the first]",
        ),
    ] = None,
    until: Annotated[
        datetime | None,
        Parameter(
            group=REBUILT,
            converter=to_moment,
            help="End with this day (2026-01-31), or this long ago (12h, 30d, 4w) [default: now]",
        ),
    ] = None,
    every: Annotated[
        Every, Parameter(group=REBUILT, help="What a period is: day, week (ISO, UTC), run, or tag (of the repository)")
    ] = "day",
    skills_repo: Annotated[
        str | None, Mark.PATH, Parameter(group=REBUILT, help="replay: the git repository that holds the skills")
    ] = None,
    skills_path: Annotated[str, Parameter(group=REBUILT, help="replay: the folder of skills inside the repository")] = ".",
    benchmark: Annotated[
        str | None,
        Mark.ID_OR_PATH,
        Parameter(
            group=EVALUATED, help="Benchmark id or path [default: each run's own, as it is today; of a replay coding-easy]"
        ),
    ] = None,
    tasks: TasksFile = None,
    benchmarks_dir: BenchmarksFolder = None,
    runs: Annotated[
        int | None, Mark.SHARED, Parameter(group=HOW, converter=whole, help="replay: repeat every task N times [default: 1]")
    ] = None,
    concurrency: Annotated[
        int | None, Mark.SHARED, Parameter(group=HOW, converter=whole, help="Items at a time [default: 4]")
    ] = None,
    timeout: Annotated[
        int | None, Mark.SHARED, Parameter(group=HOW, converter=whole, help="replay: time limit of a call in ms [default: 30000]")
    ] = None,
    retries: Annotated[
        int | None,
        Mark.SHARED,
        Parameter(group=HOW, converter=whole, help="replay: attempts after transient trouble [default: 0]"),
    ] = None,
    evaluator: Annotated[
        str | None, Parameter(group=HOW, help="Scorer of tasks that name none [default: each run's own; of a replay exact]")
    ] = None,
    allow_custom_code: CustomCode = None,
    held: ProcessOptions = ProcessOptions(),
    judging: JudgeFlags = JudgeFlags(),
    force: Annotated[bool, Parameter(group=HOW, help="Also the periods that are up to date", show_default=False)] = False,
    output: Annotated[
        Path | None, Mark.PATH, Parameter(group=RESULTS, help="Draw the trend of every skill in this .html file, too")
    ] = None,
    store: PastResults = None,
) -> int:
    """Rebuild past results period by period, and compare each period with the one before.

    What lands is new: no stored row is changed. A period that is up to date is left alone, so that the same call goes on after an
    interruption, and does nothing the second time. What could not be used of stored runs is tried again by every call, and so is
    what the judge failed. Exit code 3: it failed a part of a period, or no period came to a figure.

    Example: eval-skills backfill --mode recompute --since 30d

    Example: eval-skills backfill --mode rescore --every week --output t.html

    Example: eval-skills backfill --mode replay --skills-repo . --every tag
    """
    from eval_skills.cli.commands.evaluate import request_of
    from eval_skills.cli.commands.rescore import given, todays_settings
    from eval_skills.cli.output.backfill import show_backfill
    from eval_skills.core.errors import RunError
    from eval_skills.engine.backfill.request import BackfillRequest

    shared = given(
        benchmarks_dir=benchmarks_dir, runs=runs, concurrency=concurrency, timeout_ms=timeout, retries=retries,
        allow_custom_code=allow_custom_code, store=store,
    )  # fmt: skip
    shared |= flags_of(held, judging)
    own = given(since=since, until=until, skills_repo=skills_repo, benchmark=benchmark, tasks=tasks, evaluator=evaluator)
    options = {name: str(value) if isinstance(value, Path) else value for name, value in (_shared(shared) | own).items()}
    always = {"mode": mode, "every": every, "skills_path": skills_path, "force": force}
    request = request_of(BackfillRequest, options | always | todays_settings())
    _check_output(output)
    summary = backfilled(request, judging)
    if output is not None and not summary.is_empty:
        _draw(summary, output)
    show_backfill(summary, None if summary.is_empty else output)
    if summary.is_empty:
        again = " with --force" if mode == "replay" else ""
        raise RunError(f"no period came to a figure, for the reasons above; mend the cause, then call again{again}")
    return UNFINISHED if summary.unjudged else 0


def _shared(flags: dict[str, Any]) -> dict[str, Any]:
    """What the configuration's top level says of the options that a backfill shares with an evaluation."""
    from eval_skills.core.config.options import JudgeOptions

    config = current().config(flags)
    names = (
        "benchmarks_dir",
        "runs",
        "concurrency",
        "timeout_ms",
        "retries",
        "items_per_task",
        "allow_custom_code",
        "memory_mb",
        "cpu_seconds",
        "open_files",
        "max_output_bytes",
        "sandbox",
        "sandbox_network",
        "store",
        "secrets",
        *JudgeOptions.model_fields,
    )
    return {name: value for name in names if (value := getattr(config, name)) is not None}


def _check_output(output: Path | None) -> None:
    from eval_skills.core.errors import UsageError
    from eval_skills.engine.definition.paths import check_file

    if output is None:
        return
    if output.suffix.lower() not in PAGES:
        raise UsageError(f"--output {output}: the trend is drawn as HTML; give a file that ends in .html")
    check_file(output, "--output", "the trend")


def _draw(summary: BackfillSummary, output: Path) -> None:
    from eval_skills.core.store.files import write_whole
    from eval_skills.core.text import plural
    from eval_skills.reporting.trend import page as trend_page
    from eval_skills.reporting.trend.series import shown

    trend, metric = summary.trend(), "completionRate"
    name = next(iter(trend)).partition(" on ")[0] if len(trend) == 1 else f"{plural(len(trend), 'trend')} of a backfill"
    write_whole(output, trend_page.render(trend, skill=name, metric=metric, shown=shown(metric)).encode())


def backfilled(request: BackfillRequest, judging: JudgeFlags) -> BackfillSummary:
    """What the backfill came to; where everything is up to date, no Prefect is started for that.

    `judging` are the options of judging as they were given: it is said where they have nothing to do.
    """
    from eval_skills.cli.prefect_server.private import prefect_api
    from eval_skills.engine.backfill.plan import plan_backfill
    from eval_skills.engine.backfill.summary import backfill_summary

    plan = plan_backfill(request)
    for remark in _idle(judging, plan):
        current().remark(remark)
    if not plan.pending:
        return backfill_summary(plan, {})
    current().remark(_announced(len(plan.works), len(plan.pending)), style="")
    with prefect_api(verbose=current().verbose) as server:
        from eval_skills import flows

        server.wait_until_ready()
        summary = _called(flows.backfill, request)
        if not server.wait_until_recorded(summary.flow_runs, summary.task_runs):
            current().remark("Prefect had not recorded every task run before its server stopped; results are safe")
    return summary


def _idle(judging: JudgeFlags, plan: BackfillPlan) -> list[str]:
    from eval_skills.cli.judging_options import idle_judging, listed, typed_options

    if plan.request.mode != "recompute":
        return idle_judging(judging, plan.scorings)
    typed = typed_options(judging)
    return [f"{listed(typed)}: not needed with --mode recompute, which judges nothing"] if typed else []


def _announced(periods: int, pending: int) -> str:
    from eval_skills.core.text import plural

    return f"{plural(periods, 'period')}: {pending} to do, {periods - pending} up to date"


def _called(flow: Any, request: BackfillRequest) -> BackfillSummary:
    from eval_skills.cli.output.progress import RunsAnnounced
    from eval_skills.engine.evaluation.observer import observed_runs
    from eval_skills.flows import run_here

    try:
        with observed_runs.by(RunsAnnounced()):
            summary: BackfillSummary = run_here(flow, request)
    except KeyboardInterrupt as interrupt:
        raise type(interrupt)("interrupted; what is done is kept: make the same call again to go on") from None
    return summary
