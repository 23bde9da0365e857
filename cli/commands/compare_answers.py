"""``eval-skills compare-answers``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from eval_skills.cli.configuration import Mark, Own
from eval_skills.cli.context import UNFINISHED, current, existing_store
from eval_skills.cli.options import (
    COMPARED,
    HOW,
    JUDGED,
    BenchmarksFolder,
    JudgeFlags,
    PastResults,
    TasksFile,
    option,
    whole,
)
from eval_skills.cli.requests import configured_options, flags_of, request_of
from eval_skills.cli.running import call_recorded, interrupted
from eval_skills.core.errors import UsageError

if TYPE_CHECKING:
    from eval_skills.engine.comparison.request import CompareRequest
    from eval_skills.engine.comparison.summary import ComparisonSummary


def compare_answers_command(
    run_a: Annotated[str, Mark.ID_OR_PATH, Parameter(help="The run whose answers are A: its id, the beginning of it, or latest")],
    run_b: Annotated[str, Mark.ID_OR_PATH, Parameter(help="The run whose answers are B; the same one for two skills of it")],
    /,
    *,
    skill_a: Annotated[
        str | None, Parameter(group=COMPARED, help="Skill of RUN_A, as id or id@version [default: the one that both runs have]")
    ] = None,
    skill_b: Annotated[
        str | None, Parameter(group=COMPARED, help="Skill of RUN_B [default: the one that both runs have]")
    ] = None,
    criteria: Annotated[
        str | None,
        Parameter(group=COMPARED, help="What makes an answer better [default: the task's own criteria, else what it asks]"),
    ] = None,
    benchmark: Annotated[
        str | None,
        Mark.ID_OR_PATH,
        Own("replaces the benchmark that both runs themselves name"),
        Parameter(group=COMPARED, help="Benchmark that the runs were asked: id or path [default: the runs' own]"),
    ] = None,
    tasks: TasksFile = None,
    benchmarks_dir: BenchmarksFolder = None,
    concurrency: Annotated[int | None, option("concurrency", HOW, help="Pairs at a time")] = None,
    judging: JudgeFlags = JudgeFlags(),
    panel: Annotated[
        list[str] | None,
        Parameter(
            group=JUDGED,
            consume_multiple=1,
            help="Models that judge each pair, each as PROVIDER/MODEL; their majority decides",
        ),
    ] = None,
    votes: Annotated[
        int | None,
        Parameter(group=JUDGED, converter=whole, help="Ask each model N times about each pair, in both orders [default: 1]"),
    ] = None,
    store: PastResults = None,
) -> int:
    """Let a model decide, task by task, which of two runs answered better.

    Every pair of answers is judged in both orders. It is a tie where the orders disagree, and where the answers are equal: then
    no model is asked. Of several models (--panel) more than half must favour a side, else it is a tie; one that fails does not
    vote. An item without an answer is not judged. The same call made again asks nothing twice, and continues where it was
    stopped. Exit code 3: a pair could not be judged, or the budget is spent.

    Example: eval-skills compare-answers 20261121T233824Z-3f9a latest

    Example: eval-skills compare-answers latest latest --skill-a old --skill-b new

    Example: eval-skills compare-answers latest RUN_B --panel openai/a xai/b
    """
    from eval_skills.cli.output.judging import show_comparison
    from eval_skills.engine.comparison.request import CompareRequest

    flags = flags_of(judging, benchmarks_dir=benchmarks_dir, concurrency=concurrency) | {"store": existing_store(store).path}
    options = configured_options(CompareRequest, flags, without=("benchmark",))
    options |= flags_of(run_a=run_a, run_b=run_b, skill_a=skill_a, skill_b=skill_b, criteria=criteria, benchmark=benchmark)
    options |= flags_of(tasks=tasks, votes=votes, panel=panel_beside(judging.judge_model, panel))
    summary = _compared(request_of(CompareRequest, options))
    show_comparison(summary)
    if summary.unrecorded is not None:
        current().remark(f"the comparison is kept; Prefect's records of it are not complete ({summary.unrecorded})", style="red")
    return 0 if summary.is_complete and summary.unrecorded is None else UNFINISHED


def panel_beside(model: str | None, panel: list[str] | None) -> list[str] | None:
    """The panel, if it is to judge: a single model that was typed takes the place of one that is configured.

    Raises:
        UsageError: both were typed.
    """
    if model is None or panel is None or "--judge-model" in current().configured:
        return panel
    if "--panel" in current().configured:
        return None
    raise UsageError("--judge-model and --panel exclude each other; keep one")


def _compared(request: CompareRequest) -> ComparisonSummary:
    from eval_skills.engine.comparison.pairs import plan_comparison
    from eval_skills.engine.judging.outcome import going_on

    plan = plan_comparison(request)  # before a server is started for nothing
    for remark in plan.remarks:
        current().remark(remark)
    with interrupted(lambda: f"interrupted; {going_on(no_judge_cache=request.no_judge_cache)}"):
        summary: ComparisonSummary = call_recorded("compare_answers", request)
    for remark in summary.remarks:
        if remark not in plan.remarks:
            current().remark(remark)
    return summary
