"""``eval-skills backfill``: the call of the flow, and what is printed while it works."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from eval_skills.cli.configuration import Mark, Own
from eval_skills.cli.context import UNFINISHED, current
from eval_skills.cli.options import (
    EVALUATED,
    HOW,
    RESULTS,
    BenchmarksFolder,
    CustomCode,
    ItemConcurrency,
    JudgeFlags,
    PastResults,
    ProcessOptions,
    TasksFile,
    from_moment,
    option,
    to_moment,
)
from eval_skills.cli.requests import (
    configured_options,
    flags_of,
    listed,
    request_of,
    todays_settings,
    typed_options,
    unused_judge_options,
)
from eval_skills.cli.running import call_recorded, interrupted
from eval_skills.core.config.values import BackfillEvery, BackfillMode
from eval_skills.core.errors import RunError, UsageError
from eval_skills.core.text import plural

if TYPE_CHECKING:
    from eval_skills.engine.backfill.plan import BackfillPlan
    from eval_skills.engine.backfill.request import BackfillRequest
    from eval_skills.engine.backfill.summary import BackfillSummary

_OF_THE_RUNS = frozenset(
    {
        "benchmark",
        "evaluator",
        "weights",
        "tool_categories",
        "tool_names",
        "format",
        "output_dir",
        "fail_fast",
        "min_completion",
        "task_runner",
    }
)
"""What a backfill takes over from the runs, or has no use for."""

REBUILT, REPLAYED = Group("What is rebuilt", sort_key=1), Group("How a replay runs", sort_key=3)
PAGES = frozenset({".html", ".htm"})


def backfill_command(
    *,
    mode: Annotated[
        BackfillMode,
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
        BackfillEvery, Parameter(group=REBUILT, help="What a period is: day, week (ISO, UTC), run, or tag (of the repository)")
    ] = "day",
    skills_repo: Annotated[
        str | None, Mark.PATH, Parameter(group=REBUILT, help="replay: the git repository that holds the skills")
    ] = None,
    skills_path: Annotated[str, Parameter(group=REBUILT, help="replay: the folder of skills inside the repository")] = ".",
    benchmark: Annotated[
        str | None,
        Mark.ID_OR_PATH,
        Own("replaces the benchmark that each run itself names"),
        Parameter(
            group=EVALUATED, help="Benchmark id or path [default: each run's own, as it is today; of a replay coding-easy]"
        ),
    ] = None,
    tasks: TasksFile = None,
    benchmarks_dir: BenchmarksFolder = None,
    runs: Annotated[int | None, option("runs", REPLAYED)] = None,
    concurrency: ItemConcurrency = None,
    timeout: Annotated[int | None, option("timeout_ms", REPLAYED)] = None,
    retries: Annotated[int | None, option("retries", REPLAYED)] = None,
    evaluator: Annotated[
        str | None,
        Own("replaces the scorer that each run itself names"),
        Parameter(group=HOW, help="Scorer of tasks that name none [default: each run's own; of a replay exact]"),
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
    """Rebuild past results period by period, and compare each with the one before.

    Everything stored is new: no stored row is changed. A period that is up to date is left alone, so that the same call continues
    after an interruption, and does nothing the second time. Stored runs that could not be used are tried again by every call, and
    so is what the judge failed. Exit code 3: the judge failed a part of a period, no period has a figure, or
    Prefect's server was lost on the way.

    Example: eval-skills backfill --mode recompute --since 30d

    Example: eval-skills backfill --mode rescore --every week --output t.html

    Example: eval-skills backfill --mode replay --skills-repo . --every tag
    """
    from eval_skills.cli.output.backfill import show_backfill
    from eval_skills.engine.backfill.request import BackfillRequest

    flags = flags_of(
        held, judging, benchmarks_dir=benchmarks_dir, runs=runs, concurrency=concurrency, timeout=timeout, retries=retries,
        allow_custom_code=allow_custom_code, store=store,
    )  # fmt: skip
    shared = configured_options(BackfillRequest, flags, without=_OF_THE_RUNS)
    options = {name: value for name, value in shared.items() if value is not None}
    options |= flags_of(since=since, until=until, skills_repo=skills_repo, benchmark=benchmark, tasks=tasks, evaluator=evaluator)
    options |= {"mode": mode, "every": every, "skills_path": skills_path, "force": force}
    request = request_of(BackfillRequest, options | todays_settings())
    _check_output(output)
    summary = backfilled(request, judging)
    if output is not None and not summary.is_empty:
        _draw(summary, output)
    show_backfill(summary, None if summary.is_empty else output)
    if summary.is_empty:
        again = " with --force" if mode == "replay" else ""
        raise RunError(f"no period has a figure, for the reasons above; fix the cause, then call again{again}")
    if summary.unrecorded is not None:
        current().remark(f"the backfill is complete; Prefect's records of it are not ({summary.unrecorded})", style="red")
    return UNFINISHED if summary.unjudged or summary.unrecorded else 0


def _check_output(output: Path | None) -> None:
    from eval_skills.engine.definition.request import check_file

    if output is None:
        return
    if output.suffix.lower() not in PAGES:
        raise UsageError(f"--output {output}: the trend is drawn as HTML; give a file that ends in .html")
    check_file(output, "--output", "the trend")


def _draw(summary: BackfillSummary, output: Path) -> None:
    from eval_skills.core.store.files import write_whole
    from eval_skills.reporting.trend import page as trend_page
    from eval_skills.reporting.trend.series import shown

    trend, metric = summary.trend(), "completionRate"
    name = next(iter(trend)).partition(" on ")[0] if len(trend) == 1 else f"{plural(len(trend), 'trend')} of a backfill"
    write_whole(output, trend_page.render(trend, skill=name, metric=metric, shown=shown(metric)).encode())


def backfilled(request: BackfillRequest, judging: JudgeFlags) -> BackfillSummary:
    """The summary of the backfill; where everything is up to date, no Prefect is started for that.

    `judging` are the options of judging as they were given: where they change nothing, a warning says so.
    """
    from eval_skills.cli.output.progress import RunsAnnounced
    from eval_skills.engine.backfill.plan import plan_backfill
    from eval_skills.engine.backfill.summary import backfill_summary
    from eval_skills.engine.evaluation.observer import observed_runs

    plan = plan_backfill(request)
    for remark in _unused(judging, plan):
        current().remark(remark)
    if not plan.pending:
        return backfill_summary(plan, {})
    current().remark(_announced(len(plan.works), len(plan.pending)), style="")
    with (
        interrupted(lambda: "interrupted; what is done is kept: make the same call again to continue"),
        observed_runs.by(RunsAnnounced()),
    ):
        return call_recorded("backfill", request)


def _unused(judging: JudgeFlags, plan: BackfillPlan) -> list[str]:
    if plan.request.mode != "recompute":
        return unused_judge_options(judging, plan.scorings)
    typed = typed_options(judging)
    return [f"{listed(typed)}: not needed with --mode recompute, which judges nothing"] if typed else []


def _announced(periods: int, pending: int) -> str:
    return f"{plural(periods, 'period')}: {pending} to do, {periods - pending} up to date"
