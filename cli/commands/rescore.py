"""``eval-skills rescore``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from eval_skills.cli.configuration import Mark
from eval_skills.cli.context import current
from eval_skills.cli.options import (
    EVALUATED,
    HOW,
    BenchmarksFolder,
    CustomCode,
    JudgeFlags,
    PastResults,
    TasksFile,
    flags_of,
    whole,
)

if TYPE_CHECKING:
    from eval_skills.core.models import ItemResult
    from eval_skills.engine.rescoring.plan import Rescoring
    from eval_skills.reporting.diff.report import DiffDocument

UNFINISHED = 3


def rescore_command(
    run_id: Annotated[str, Mark.ID_OR_PATH, Parameter(help="The run whose answers are scored again: its id, or latest")],
    /,
    *,
    benchmark: Annotated[
        str | None,
        Mark.ID_OR_PATH,
        Parameter(group=EVALUATED, help="Benchmark that judges: id or path [default: the run's own, as it is today]"),
    ] = None,
    tasks: TasksFile = None,
    benchmarks_dir: BenchmarksFolder = None,
    evaluator: Annotated[
        str | None, Parameter(group=HOW, help="Scorer of tasks that name none [default: as when the run was made]")
    ] = None,
    concurrency: Annotated[
        int | None, Mark.SHARED, Parameter(group=HOW, converter=whole, help="Answers at a time [default: 4]")
    ] = None,
    allow_custom_code: CustomCode = None,
    force: Annotated[
        bool, Parameter(group=HOW, help="Score again also where the same scoring has landed already", show_default=False)
    ] = False,
    judging: JudgeFlags = JudgeFlags(),
    store: PastResults = None,
) -> int:
    """Score the stored answers of a run again, with today's scorers and expectations.

    No skill is called. The scoring is kept as a run of its own, at the moment of the original, which stays as it is; and it is
    compared with the original. Exit code 3: an answer could not be judged, since it was cut when it landed or the judge failed;
    made again, without --force, the call judges what the judge failed.

    Example: eval-skills rescore latest

    Example: eval-skills rescore latest --benchmark ./fixed/benchmark.json
    """
    from eval_skills.cli.commands.evaluate import request_of
    from eval_skills.cli.context import existing_store
    from eval_skills.cli.judging_options import idle_judging
    from eval_skills.core.config.options import JudgeOptions
    from eval_skills.engine.judging.outcome import going_on, judges_of
    from eval_skills.engine.rescoring.diff import rescoring_diff
    from eval_skills.engine.rescoring.plan import plan_rescoring
    from eval_skills.engine.rescoring.request import RescoreRequest
    from eval_skills.engine.rescoring.rescore import left_unjudged, rescore

    flags = given(benchmarks_dir=benchmarks_dir, allow_custom_code=allow_custom_code, concurrency=concurrency)
    config = current().config(flags | flags_of(judging))
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
        **{name: getattr(config, name) for name in JudgeOptions.model_fields},
    }
    plan = plan_rescoring(request_of(RescoreRequest, options | todays_settings()))
    plan.remarks.extend(idle_judging(judging, plan.basis.scorings))
    for remark in plan.remarks:
        current().remark(remark)
    if plan.landed:
        current().remark(f"nothing to do: this scoring of run {plan.of} has landed as {plan.run_id}; do it again with --force")
    elif plan.before:
        current().remark(f"the scoring {plan.run_id} of run {plan.of} goes on with what the judge failed")
    try:
        rescore(plan, concurrency=config.concurrency)
    except KeyboardInterrupt as interrupt:
        kept = f"; {going_on(no_judge_cache=config.no_judge_cache)}" if judges_of(plan.basis.scorings) else "; nothing landed"
        raise type(interrupt)(f"interrupted{kept}") from None
    failed = left_unjudged(plan)
    _show(plan, rescoring_diff(plan), failed, force=force)
    return UNFINISHED if plan.cut or failed else 0


def given(**flags: Any) -> dict[str, Any]:
    """The flags that were given."""
    return {name: value for name, value in flags.items() if value is not None}


def todays_settings() -> dict[str, Any]:
    """What the configuration says today of weights, categories and names of tools; nothing where it says nothing."""
    layers = current().layers({})
    said = {leaf[0] for layer in layers.layers for leaf in layer}
    keys = {"weights": "weights", "tool_categories": "toolCategories", "tool_names": "toolNames"}
    return {name: getattr(layers.config, name) for name, key in keys.items() if key in said}


def _show(plan: Rescoring, document: DiffDocument, failed: list[ItemResult], *, force: bool) -> None:
    from eval_skills.cli.output.diff import show_diff
    from eval_skills.cli.output.run import print_json
    from eval_skills.core.text import plural
    from eval_skills.engine.judging.outcome import failed_judging, judges_of, judging_lines

    judging = judging_lines(judges_of(plan.basis.scorings), plan.run_id)
    if failed:
        said = failed_judging(len(failed), len(plan.results), failed[0].error_message or "")
        same = "the same call without --force" if force else "the same call"
        judging.insert(0, f"{said}; {same} goes on with {'it' if len(failed) == 1 else 'them'}")
    if current().json:
        facts = {"runId": plan.run_id, "of": plan.of, "digest": plan.digest, "new": not plan.landed, "remarks": plan.remarks}
        facts |= {"items": len(plan.results), "cut": plan.cut, "unjudged": len(failed), "judging": judging}
        print_json({**facts, "diff": document.to_json()})
        return
    show_diff(document, None)
    if plan.cut:
        current().say(f"{plural(plan.cut, 'item')} not judged: the answer was cut when it landed; run it again", style="yellow")
    current().say("")
    for line in judging:
        current().say(line, style="red" if line.startswith("judge: ") else "")
    current().say(f"store   {plan.store.path}   run {plan.run_id}")
