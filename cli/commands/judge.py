"""``eval-skills judge calibrate``: how far a judging model is to be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from eval_skills.cli.configuration import Mark
from eval_skills.cli.context import current
from eval_skills.cli.options import COMPARED, BenchmarksFolder, JudgeFlags, PastResults, TasksFile, flags_of

UNFINISHED = 3

judge_app = App(name="judge", help="How far judging models are to be trusted.")


@judge_app.command(name="calibrate")
def calibrate_command(
    *,
    labels: Annotated[
        Path,
        Mark.PATH,
        Parameter(
            group=COMPARED, help="CSV file: task_id, label (pass, fail or 0 to 1) and, where needed, run_index, skill_id, answer"
        ),
    ],
    run: Annotated[
        str | None,
        Mark.ID_OR_PATH,
        Parameter(group=COMPARED, help="Run whose verdicts were labelled: its id, or latest [default: answers are judged now]"),
    ] = None,
    pass_at: Annotated[float, Parameter(group=COMPARED, help="A label from here on says pass")] = 0.7,
    benchmark: Annotated[
        str | None,
        Mark.ID_OR_PATH,
        Parameter(group=COMPARED, help="Benchmark of the answers: id or path [default: the run's]"),
    ] = None,
    tasks: TasksFile = None,
    benchmarks_dir: BenchmarksFolder = None,
    evaluator: Annotated[
        str | None, Parameter(group=COMPARED, help="Scorer of tasks that name none, for answers that are judged now")
    ] = None,
    force: Annotated[
        bool, Parameter(group=COMPARED, help="Replace a calibration that has more labels, too", show_default=False)
    ] = False,
    judging: JudgeFlags = JudgeFlags(),
    store: PastResults = None,
) -> int:
    """Hold a judging model against the labels of people, and keep how far it agrees.

    The labels are about the verdicts of a stored run (--run), or about answers of their own, in a column answer, which are judged
    now. From then on reports of this benchmark, model and prompt also show the completion rate without the judge's mistakes.
    The last calibration holds; one with fewer labels takes its place only with --force. Exit code 3: an answer could not be
    judged, or the budget is spent.

    Example: eval-skills judge calibrate --labels labels.csv --run latest
    """
    from eval_skills.cli.commands.evaluate import request_of
    from eval_skills.cli.commands.rescore import given
    from eval_skills.cli.judging_options import listed, typed_options
    from eval_skills.cli.output.calibration import show_calibrations
    from eval_skills.core.config.options import JudgeOptions
    from eval_skills.engine.calibration.calibrate import calibrate_judge
    from eval_skills.engine.calibration.request import CalibrateRequest
    from eval_skills.engine.judging.outcome import going_on

    config = current().config(given(benchmarks_dir=benchmarks_dir) | flags_of(judging))
    options: dict[str, Any] = {
        "labels": str(labels),
        "pass_at": pass_at,
        "force": force,
        **given(run_id=run, benchmark=benchmark, tasks=str(tasks) if tasks else None, evaluator=evaluator),
        **given(benchmarks_dir=str(config.benchmarks_dir) if config.benchmarks_dir else None),
        "store": _store(store, must_exist=run is not None),
        "secrets": config.secrets,
        **{name: getattr(config, name) for name in JudgeOptions.model_fields},
    }
    if run is not None and (typed := typed_options(judging)):
        current().remark(f"{listed(typed)}: not needed with --run, whose verdicts are compared as they are; no model is asked")
    try:
        outcome = calibrate_judge(request_of(CalibrateRequest, options))
    except KeyboardInterrupt as interrupt:
        kept = "no model was asked" if run is not None else going_on(no_judge_cache=config.no_judge_cache)
        raise type(interrupt)(f"interrupted; {kept}") from None
    show_calibrations(outcome)
    return UNFINISHED if outcome.failed else 0


def _store(given: str | None, *, must_exist: bool) -> str:
    from eval_skills.cli.context import existing_store

    return existing_store(given).path if must_exist else str(current().config({"store": given}).store)
