"""``eval-skills rescore``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from eval_skills.cli.configuration import Mark, Own
from eval_skills.cli.context import UNFINISHED, current, existing_store, print_json
from eval_skills.cli.options import (
    EVALUATED,
    HOW,
    BenchmarksFolder,
    CustomCode,
    JudgeFlags,
    PastResults,
    TaskChoiceOptions,
    TasksFile,
    option,
)
from eval_skills.cli.requests import configured_options, flags_of, request_of, todays_settings, unused_judge_options
from eval_skills.cli.running import interrupted
from eval_skills.core.text import plural

if TYPE_CHECKING:
    from eval_skills.core.models import ItemResult
    from eval_skills.engine.rescoring.plan import Rescoring
    from eval_skills.reporting.diff.report import DiffDocument

_OF_THE_RUN = ("benchmark", "evaluator", "weights", "tool_categories", "tool_names")
"""What a scoring takes over from the run, unless it is said anew."""


def rescore_command(
    run_id: Annotated[
        str, Mark.ID_OR_PATH, Parameter(help="The run whose answers are scored again: its id, the beginning of it, or latest")
    ],
    /,
    *,
    benchmark: Annotated[
        str | None,
        Mark.ID_OR_PATH,
        Own("replaces the benchmark that the run itself names"),
        Parameter(group=EVALUATED, help="Benchmark that judges: id or path [default: the run's own, as it is today]"),
    ] = None,
    tasks: TasksFile = None,
    benchmarks_dir: BenchmarksFolder = None,
    evaluator: Annotated[
        str | None,
        Own("replaces the scorer that the run itself names"),
        Parameter(group=HOW, help="Scorer of tasks that name none [default: as when the run was made]"),
    ] = None,
    concurrency: Annotated[int | None, option("concurrency", HOW, help="Answers at a time")] = None,
    allow_custom_code: CustomCode = None,
    force: Annotated[
        bool, Parameter(group=HOW, help="Score again also where the same scoring has landed already", show_default=False)
    ] = False,
    chosen: TaskChoiceOptions = TaskChoiceOptions(),
    judging: JudgeFlags = JudgeFlags(),
    store: PastResults = None,
) -> int:
    """Score the stored answers of a run again, with today's scorers and expectations.

    No skill is called. The scoring is kept as a run of its own, dated like the original, which stays as it is; and the two are
    compared. Of several scorings of a run the one that was asked for last counts, in the view `items` of `query`: one that is
    stored already is not made again, and counts again. Exit code 3: an answer could not be judged, because it was cut when it was
    stored or the judge failed; the same call without --force judges again what the judge failed.

    Example: eval-skills rescore latest

    Example: eval-skills rescore latest --task-filter tags=math

    Example: eval-skills rescore latest --benchmark ./fixed/benchmark.json
    """
    from eval_skills.engine.definition.scoring import judges_of
    from eval_skills.engine.judging.outcome import going_on
    from eval_skills.engine.rescoring.diff import rescoring_diff
    from eval_skills.engine.rescoring.plan import plan_rescoring
    from eval_skills.engine.rescoring.request import RescoreRequest
    from eval_skills.engine.rescoring.rescore import left_unjudged, rescore

    flags = flags_of(judging, benchmarks_dir=benchmarks_dir, allow_custom_code=allow_custom_code, concurrency=concurrency)
    own = configured_options(RescoreRequest, flags | {"store": existing_store(store).path}, without=_OF_THE_RUN)
    own |= flags_of(chosen, run_id=run_id, benchmark=benchmark, tasks=tasks, evaluator=evaluator, force=force)
    plan = plan_rescoring(request_of(RescoreRequest, own | todays_settings()))
    plan.remarks.extend(unused_judge_options(judging, plan.basis.scorings))
    for remark in plan.remarks:
        current().remark(remark)
    if plan.landed:
        stored = f"this scoring of run {plan.of} is stored already as {plan.run_id}"
        done = f"nothing to do: {stored}" if plan.counts else f"{stored}, and counts again from now on"
        current().remark(f"{done}; do it again with --force")
    elif plan.before:
        current().remark(f"the scoring {plan.run_id} of run {plan.of} continues with the answers that the judge failed")
    told = len(plan.remarks)
    kept = going_on(no_judge_cache=own["no_judge_cache"]) if judges_of(plan.basis.scorings) else "nothing landed"
    with interrupted(lambda: f"interrupted; {kept}"):
        rescore(plan, concurrency=own["concurrency"])
    for remark in plan.remarks[told:]:
        current().remark(remark)
    failed = left_unjudged(plan)
    _show(plan, rescoring_diff(plan), failed, force=force)
    return UNFINISHED if plan.cut or failed else 0


def _show(plan: Rescoring, document: DiffDocument, failed: list[ItemResult], *, force: bool) -> None:
    from eval_skills.cli.output.diff import show_diff
    from eval_skills.engine.definition.scoring import judges_of
    from eval_skills.engine.judging.outcome import failed_judging, spending_lines

    judging = list(spending_lines(judges_of(plan.basis.scorings)))
    if failed:
        said = failed_judging([each.error_message or "" for each in failed], len(plan.results))
        same = "the same call without --force" if force else "the same call"
        judging.insert(0, f"{said}; {same} continues with {'it' if len(failed) == 1 else 'them'}")
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
