"""Reports in other formats, for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from eval_skills.cli.configuration import Mark, Own
from eval_skills.cli.context import current, print_json
from eval_skills.cli.options import RESULTS, PastResults
from eval_skills.core.errors import UsageError
from eval_skills.core.text import nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eval_skills.core.models import SkillCompletionReport

ReportInput = Annotated[
    str,
    Mark.ID_OR_PATH,
    Parameter(group=RESULTS, name="--input", help="A JSON report, a run id of the store or its beginning, or latest"),
]
OnlySkills = Annotated[
    list[str] | None,
    Parameter(group=RESULTS, consume_multiple=1, help="Only these skills, each an id or id@version [default: all]"),
]


def convert(
    *,
    input_: ReportInput,
    format: Annotated[  # noqa: A002 - the word that people use
        list[str],
        Own("is what the call is about"),
        Parameter(
            group=RESULTS,
            consume_multiple=1,
            help="Formats to write, several at once: json markdown html csv junit parquet; "
            "of other tools: gaia promptfoo inspect langsmith openai-evals evalview",
        ),
    ],
    output: Annotated[
        str,
        Mark.PATH,
        Parameter(group=RESULTS, help="File for one format; or a folder: one that is there, ends in /, or for several formats"),
    ],
    skill: OnlySkills = None,
    store: PastResults = None,
) -> int:
    """Write a report in other formats.

    A run's reports are made anew from its stored items.

    Example: eval-skills report convert --input latest --format junit --output x.xml
    """
    from eval_skills.engine.stored_runs.reports import read_source
    from eval_skills.reporting.writing import format_named, target_files, write_targets

    formats = {name: format_named(name) for name in format}
    source = read_source(input_, current().config({"store": store}).store)
    extensions = {name: each.extension for name, each in formats.items()}
    files = target_files(output, extensions, source.stem, inputs=[source.file] if source.file else [])
    reports = _of_skills(source.reports, skill or [])
    contents = {file: formats[name].content(reports, source.context) for name, file in files.items()}
    return _tell_files(write_targets(contents), remarks=source.remarks)


def mlflow(
    *,
    input_: ReportInput,
    tracking_uri: Annotated[
        str | None,
        Parameter(group=RESULTS, help="A folder, sqlite:///FILE or the address of a server [default: MLFLOW_TRACKING_URI]"),
    ] = None,
    experiment: Annotated[
        str | None, Parameter(group=RESULTS, help="Its experiment, made where it is missing [default: the benchmark's id]")
    ] = None,
    skill: OnlySkills = None,
    store: PastResults = None,
) -> int:
    """Write a report to MLflow: a run for each skill, with figures, and the report as an artefact.

    Needs the extra mlflow.

    Example: eval-skills report mlflow --input latest --experiment nights
    """
    from eval_skills.engine.stored_runs.reports import read_source
    from eval_skills.reporting.exports.mlflow import log_reports

    source = read_source(input_, current().config({"store": store}).store)
    reports = _of_skills(source.reports, skill or [])
    name = experiment or reports[0].benchmark_id
    logged = log_reports(reports, source.context, experiment=name, tracking_uri=tracking_uri)
    call = current()
    if call.json:
        print_json({"experiment": name, "runs": [{"skill": each.skill, "mlflowRunId": each.mlflow_run_id} for each in logged]})
    for each in logged if not call.json else ():
        call.say(f"mlflow  {each.skill}   experiment {name}   run {each.mlflow_run_id}")
    return 0


def agent_skills(
    *,
    input_: ReportInput,
    output: Annotated[
        str, Mark.PATH, Parameter(group=RESULTS, help="Folder, in which SKILL-workspace/iteration-N is made; N is the next one")
    ],
    skill: OnlySkills = None,
    store: PastResults = None,
) -> int:
    """Write a report as a workspace of skill-creator, which its viewer opens.

    A folder for each run has grading.json, timing.json and outputs/; benchmark.json has the figures of each configuration and
    their difference. NAME-with, NAME-without, NAME-old and NAME-sham are the configurations of one skill; any other skill is
    with_skill. What is unknown is null or left out, never 0.

    Example: eval-skills report agent-skills --input latest --output .
    """
    from eval_skills.agent_skills.workspaces.writing import write_iteration
    from eval_skills.engine.stored_runs.reports import files_left, read_source
    from eval_skills.reporting.exports.agent_skills import workspaces_of

    folder = current().config({"store": store}).store
    source = read_source(input_, folder)
    exports = workspaces_of(_of_skills(source.reports, skill or []), source.context, files_left(source, folder))
    written = [write_iteration(Path(output), each.skill, each.files) for each in exports]
    remarks = [*source.remarks, *(f"{each.skill}: {remark}" for each in exports for remark in each.remarks)]
    return _tell_files(written, remarks=remarks)


def _of_skills(reports: Sequence[SkillCompletionReport], named: Sequence[str]) -> Sequence[SkillCompletionReport]:
    known = {name for report in reports for name in (report.skill_id, report.skill_key)}
    if (wrong := next((name for name in named if name not in known), None)) is not None:
        there = ", ".join(report.skill_key for report in reports)
        raise UsageError(f"--skill {wrong!r}: no such skill in this report{nearest(wrong, known)}; it has {there}")
    return [report for report in reports if not named or {report.skill_id, report.skill_key} & set(named)]


def _tell_files(files: list[Path], *, remarks: list[str]) -> int:
    for remark in remarks:
        current().remark(remark)
    if current().json:
        print_json({"files": [str(path) for path in files], "remarks": remarks})
    else:
        for path in files:
            current().say(f"report  {path}")
    return 0
