"""``eval-skills rescore``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from eval_skills.cli.configurable import Mark
from eval_skills.cli.numbers import whole
from eval_skills.cli.options import EVALUATED, HOW, RESULTS
from eval_skills.cli.session import current

if TYPE_CHECKING:
    from eval_skills.reporting.diff_report import DiffDocument
    from eval_skills.tasks.rescoring import Rescoring


def rescore_command(
    run_id: Annotated[str, Mark.ID_OR_PATH, Parameter(help="The run whose answers are scored again: its id, or latest")],
    /,
    *,
    benchmark: Annotated[
        str | None,
        Mark.ID_OR_PATH,
        Parameter(group=EVALUATED, help="Benchmark that judges: id or path [default: the run's own, as it is today]"),
    ] = None,
    tasks: Annotated[
        Path | None, Parameter(group=EVALUATED, help="JSON or YAML file with a task array or a benchmark; replaces --benchmark")
    ] = None,
    benchmarks_dir: Annotated[
        Path | None, Mark.SHARED, Parameter(group=EVALUATED, help="Folder of benchmarks, searched before the built-in ones")
    ] = None,
    evaluator: Annotated[
        str | None, Parameter(group=HOW, help="Scorer of tasks that name none [default: as when the run was made]")
    ] = None,
    concurrency: Annotated[
        int | None, Mark.SHARED, Parameter(group=HOW, converter=whole, help="Answers at a time [default: 4]")
    ] = None,
    allow_custom_code: Annotated[
        bool | None, Mark.SHARED, Parameter(group=HOW, help="Let the benchmark run its own scorer code", show_default=False)
    ] = None,
    force: Annotated[
        bool, Parameter(group=HOW, help="Score again also where the same scoring has landed already", show_default=False)
    ] = False,
    store: Annotated[
        str | None, Mark.SHARED, Parameter(group=RESULTS, help="Where past results are [default: ./eval-store]")
    ] = None,
) -> int:
    """Score the stored answers of a run again, with today's scorers and expectations.

    No skill is called. The scoring is kept as a run of its own, at the moment of the original, which stays as it is; and it is
    compared with the original.

    Example: eval-skills rescore latest

    Example: eval-skills rescore latest --benchmark ./fixed/benchmark.json
    """
    from eval_skills.cli.evaluate import request_of
    from eval_skills.cli.stored import existing_store
    from eval_skills.tasks.rescore_request import RescoreRequest
    from eval_skills.tasks.rescoring import plan_rescoring, rescore

    config = current().config(given(benchmarks_dir=benchmarks_dir, allow_custom_code=allow_custom_code, concurrency=concurrency))
    options = {
        "run_id": run_id,
        "benchmark": benchmark,
        "tasks": str(tasks) if tasks else None,
        "benchmarks_dir": str(config.benchmarks_dir) if config.benchmarks_dir else None,
        "evaluator": evaluator,
        "concurrency": config.concurrency,
        "allow_custom_code": config.allow_custom_code,
        "force": force,
        "store": existing_store(store).path,
    }
    plan = plan_rescoring(request_of(RescoreRequest, options | todays_settings()))
    for remark in plan.remarks:
        current().remark(remark)
    if plan.landed:
        current().remark(f"nothing to do: this scoring of run {plan.of} has landed as {plan.run_id}; do it again with --force")
    rescore(plan, concurrency=config.concurrency)
    _show(plan, _compared(plan))
    return 0


def given(**flags: Any) -> dict[str, Any]:
    """The flags that were given."""
    return {name: value for name, value in flags.items() if value is not None}


def todays_settings() -> dict[str, Any]:
    """What the configuration says today of weights, categories and names of tools; nothing where it says nothing."""
    layers = current().layers({})
    said = {leaf[0] for layer in layers.layers for leaf in layer}
    keys = {"weights": "weights", "tool_categories": "toolCategories", "tool_names": "toolNames"}
    return {name: getattr(layers.config, name) for name, key in keys.items() if key in said}


def _compared(plan: Rescoring) -> DiffDocument:
    from eval_skills.core.diff import diff_reports
    from eval_skills.reporting.diff_report import DiffDocument
    from eval_skills.tasks.report_source import read_source

    before, after = (read_source(run_id, plan.store.path) for run_id in (plan.of, plan.run_id))
    same = [report.model_copy(update={"benchmark_id": plan.yardstick.benchmark.id}) for report in before.reports]
    return DiffDocument(
        diff=diff_reports(same, after.reports), before=f"{plan.of} as scored then", after=f"{plan.run_id} as scored today",
        failures=None, remarks=[],
    )  # fmt: skip


def _show(plan: Rescoring, document: DiffDocument) -> None:
    from eval_skills.cli.diff_tables import show_diff
    from eval_skills.cli.tables import print_json

    if current().json:
        facts = {"runId": plan.run_id, "of": plan.of, "digest": plan.digest, "new": not plan.landed, "remarks": plan.remarks}
        print_json({**facts, "items": len(plan.results), "diff": document.to_json()})
        return
    show_diff(document, None)
    current().say("")
    current().say(f"store   {plan.store.path}   run {plan.run_id}")
