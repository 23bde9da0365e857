"""``eval-skills run``: the whole pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from eval_skills.cli.commands.evaluate import refuse_calling, request_of, request_options
from eval_skills.cli.configuration import Mark
from eval_skills.cli.options import (
    EVALUATED,
    SELECTED,
    BenchmarkOptions,
    ExecutionOptions,
    JudgeFlags,
    ProcessOptions,
    ReportOptions,
    StrategyFile,
    TopK,
    flags_of,
)

OF_THE_PIPELINE = ("store", "exit_on_fail", "format", "output_dir", "skills_dir", "strategy", "top_k", "min_completion")
"""What selecting and reporting need to know also when a run is resumed."""


def run_command(
    *,
    skills_dir: Annotated[
        Path | None, Mark.SHARED, Parameter(group=EVALUATED, help="Folder to search for skills [default: ./skills]")
    ] = None,
    query: Annotated[
        str | None,
        Parameter(group=EVALUATED, name=["-q", "--query"], help="Only skills with this text in name, description or tags"),
    ] = None,
    tag: Annotated[
        list[str] | None,
        Parameter(group=EVALUATED, name=["-t", "--tag"], consume_multiple=1, help="Only skills with all of these tags"),
    ] = None,
    adapter: Annotated[
        str | None, Parameter(group=EVALUATED, name=["-a", "--adapter"], help="Only skills behind this adapter")
    ] = None,
    top_k: TopK = None,
    min_completion: Annotated[
        float | None,
        Parameter(
            group=SELECTED, help="Lowest completion rate to select, and for --exit-on-fail [default: the strategy's, else 0.7]"
        ),
    ] = None,
    strategy: StrategyFile = None,
    what: BenchmarkOptions = BenchmarkOptions(),
    how: ExecutionOptions = ExecutionOptions(),
    held: ProcessOptions = ProcessOptions(),
    judging: JudgeFlags = JudgeFlags(),
    reports: ReportOptions = ReportOptions(),
) -> int:
    """Find skills, evaluate them, select the best and write reports, in one Prefect flow.

    It does what find, eval and select do one after the other, and shows as one flow run with all its steps in Prefect.

    Example: eval-skills run --skills-dir ./examples/skills --runs 3 --top-k 3

    Example: eval-skills run --tag math --strategy strategy.yaml --dry-run
    """
    from eval_skills.cli.commands.find import check_adapter
    from eval_skills.cli.running import run_flow
    from eval_skills.engine.definition.request import PipelineRequest
    from eval_skills.engine.stored_runs.candidates import chosen_strategy

    check_adapter(adapter)
    flags = flags_of(
        what, how, held, judging, reports, skills_dir=skills_dir, top_k=top_k, strategy=strategy, min_completion=min_completion
    )
    options = request_options(flags, resuming=bool(how.resume), always=OF_THE_PIPELINE)
    if options.get("traces"):
        refuse_calling(flags | {"query": query, "tags": tag, "adapter": adapter})
    floor = chosen_strategy(options["strategy"], min_completion=min_completion, floor=options.pop("min_completion"))
    own = {"query": query, "tags": tag or [], "adapter": adapter, "min_completion": floor.filters.min_completion_rate}
    request = request_of(PipelineRequest, options, **own)
    return run_flow(request, dry_run=how.dry_run, exit_on_fail=bool(options["exit_on_fail"]), judging=judging)
