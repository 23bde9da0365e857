"""``eval-skills judge calibrate``: how far a judging model is to be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from eval_skills.cli.configuration import Mark, Own
from eval_skills.cli.context import UNFINISHED, current, existing_store
from eval_skills.cli.options import COMPARED, BenchmarksFolder, JudgeFlags, PastResults, TasksFile, decimal
from eval_skills.cli.requests import configured_options, flags_of, listed, request_of, typed_options
from eval_skills.cli.running import interrupted

judge_app = App(name="judge", help="Check the models that judge.")


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
        Parameter(
            group=COMPARED,
            help="Run whose verdicts were labelled: its id, the beginning of it, or latest [default: answers are judged now]",
        ),
    ] = None,
    pass_at: Annotated[float, Parameter(group=COMPARED, converter=decimal, help="Labels from this value on say pass")] = 0.7,
    benchmark: Annotated[
        str | None,
        Mark.ID_OR_PATH,
        Own("replaces the benchmark that the run itself names"),
        Parameter(group=COMPARED, help="Benchmark of the answers: id or path [default: the run's]"),
    ] = None,
    tasks: TasksFile = None,
    benchmarks_dir: BenchmarksFolder = None,
    evaluator: Annotated[
        str | None,
        Own("replaces the scorer that the run itself names"),
        Parameter(group=COMPARED, help="Scorer of tasks that name none, for answers that are judged now"),
    ] = None,
    force: Annotated[
        bool, Parameter(group=COMPARED, help="Replace a calibration that has more labels, too", show_default=False)
    ] = False,
    judging: JudgeFlags = JudgeFlags(),
    store: PastResults = None,
) -> int:
    """Compare a judging model with the labels of people, and keep how far it agrees.

    The labels are about the verdicts of a stored run (--run), or about answers of their own, in a column answer, which are
    judged now. From then on reports of this benchmark, model and prompt also show the completion rate corrected for the judge's
    mistakes. The newest calibration holds; one with fewer labels replaces it only with --force. Exit code 3: an answer could
    not be judged, or the budget is spent.

    Example: eval-skills judge calibrate --labels labels.csv --run latest
    """
    from eval_skills.cli.output.judging import show_calibrations
    from eval_skills.engine.calibration.calibrate import calibrate_judge
    from eval_skills.engine.calibration.request import CalibrateRequest
    from eval_skills.engine.judging.outcome import going_on

    flags = flags_of(judging, benchmarks_dir=benchmarks_dir, store=store if run is None else existing_store(store).path)
    options = configured_options(CalibrateRequest, flags, without=("benchmark", "evaluator"))
    options |= flags_of(
        labels=labels, pass_at=pass_at, force=force, run_id=run, benchmark=benchmark, tasks=tasks, evaluator=evaluator
    )
    if run is not None and (typed := typed_options(judging)):
        current().remark(f"{listed(typed)}: not needed with --run, whose verdicts are compared as they are; no model is asked")
    kept = "no model was asked" if run is not None else going_on(no_judge_cache=options["no_judge_cache"])
    with interrupted(lambda: f"interrupted; {kept}"):
        outcome = calibrate_judge(request_of(CalibrateRequest, options))
    show_calibrations(outcome)
    return UNFINISHED if outcome.failed else 0
