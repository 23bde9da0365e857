"""``eval-skills report``: reports in other formats, and two of them compared."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from eval_skills.cli.configuration import Mark, Own
from eval_skills.cli.context import current, print_json
from eval_skills.cli.options import COMPARED, RESULTS, PastResults
from eval_skills.core.errors import UsageError
from eval_skills.core.text import nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eval_skills.core.models import SkillCompletionReport
    from eval_skills.reporting.diff.report import DiffDocument

GATE_FAILED = 1
FailOn = Literal["worse", "not-proven"]
Missing = Literal["bounds", "ignore"]
MARKDOWN = frozenset({"", ".md", ".markdown", ".txt"})
"""Endings of files that Markdown may be in."""

report_app = App(name="report", help="Convert reports, and compare two of them.")


@report_app.command
def convert(
    *,
    input_: Annotated[
        str,
        Mark.ID_OR_PATH,
        Parameter(group=RESULTS, name="--input", help="A JSON report, a run id of the store or its beginning, or latest"),
    ],
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
    skill: Annotated[
        list[str] | None,
        Parameter(group=RESULTS, consume_multiple=1, help="Only these skills, each an id or id@version [default: all]"),
    ] = None,
    store: PastResults = None,
) -> int:
    """Write a report in other formats.

    A run's reports are made anew from its stored items.

    Example: eval-skills report convert --input latest --format junit --output x.xml
    """
    from eval_skills.engine.stored_runs.reports import read_source
    from eval_skills.reporting import format_named
    from eval_skills.reporting.writing import target_files, write_targets

    formats = {name: format_named(name) for name in format}
    source = read_source(input_, current().config({"store": store}).store)
    extensions = {name: each.extension for name, each in formats.items()}
    files = target_files(output, extensions, source.stem, inputs=[source.file] if source.file else [])
    reports = _of_skills(source.reports, skill or [])
    contents = {file: formats[name].content(reports, source.context) for name, file in files.items()}
    return _tell_files(write_targets(contents), remarks=source.remarks)


@report_app.command
def mlflow(
    *,
    input_: Annotated[
        str,
        Mark.ID_OR_PATH,
        Parameter(group=RESULTS, name="--input", help="A JSON report, a run id of the store or its beginning, or latest"),
    ],
    tracking_uri: Annotated[
        str | None,
        Parameter(group=RESULTS, help="A folder, sqlite:///FILE or the address of a server [default: MLFLOW_TRACKING_URI]"),
    ] = None,
    experiment: Annotated[
        str | None, Parameter(group=RESULTS, help="Its experiment, made where it is missing [default: the benchmark's id]")
    ] = None,
    skill: Annotated[
        list[str] | None,
        Parameter(group=RESULTS, consume_multiple=1, help="Only these skills, each an id or id@version [default: all]"),
    ] = None,
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


@report_app.command(name="agent-skills")
def agent_skills(
    *,
    input_: Annotated[
        str,
        Mark.ID_OR_PATH,
        Parameter(group=RESULTS, name="--input", help="A JSON report, a run id of the store or its beginning, or latest"),
    ],
    output: Annotated[
        str, Mark.PATH, Parameter(group=RESULTS, help="Folder, in which SKILL-workspace/iteration-N is made; N is the next one")
    ],
    skill: Annotated[
        list[str] | None,
        Parameter(group=RESULTS, consume_multiple=1, help="Only these skills, each an id or id@version [default: all]"),
    ] = None,
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


@report_app.command
def diff(
    before: Annotated[
        str, Mark.ID_OR_PATH, Parameter(help="The earlier side: a JSON report, a run id of the store or its beginning, or latest")
    ],
    after: Annotated[str, Mark.ID_OR_PATH, Parameter(help="The later side, likewise")],
    /,
    *,
    label_a: Annotated[
        str | None, Parameter(group=RESULTS, help="What the earlier side is called [default: as it was given]")
    ] = None,
    label_b: Annotated[
        str | None, Parameter(group=RESULTS, help="What the later side is called [default: as it was given]")
    ] = None,
    map_: Annotated[
        list[str] | None,
        Parameter(
            group=COMPARED,
            name="--map",
            consume_multiple=1,
            help="Skills that took another's place: old=new, each an id or id@version",
        ),
    ] = None,
    min_effect: Annotated[
        float | None,
        Parameter(group=COMPARED, help="Smallest change of completion, from 0 to 1, that counts as better or worse [default: 0]"),
    ] = None,
    fail_on: Annotated[
        FailOn | None,
        Parameter(
            group=COMPARED,
            help="Exit 1 when a skill is worse, or when it is not proven that it lost less than --margin; "
            "and when that could not be judged",
        ),
    ] = None,
    margin: Annotated[
        float | None,
        Parameter(group=COMPARED, help="Loss of completion, from 0 to 1, that --fail-on not-proven tolerates [default: 0.03]"),
    ] = None,
    missing: Annotated[
        Missing,
        Parameter(
            group=COMPARED,
            help="Items without a verdict of the skill (outages, a failed judge): "
            "verdicts must hold within their bounds, or ignore them",
        ),
    ] = "bounds",
    output: Annotated[
        str | None,
        Mark.PATH,
        Parameter(group=RESULTS, help="Write it to a file, or a folder for several formats [default: print it]"),
    ] = None,
    format: Annotated[  # noqa: A002 - the word that people use
        list[str] | None,
        Own("a comparison has formats of its own"),
        Parameter(
            group=RESULTS,
            consume_multiple=1,
            help="Formats: markdown json html [default: by the ending of --output, else markdown; a table without one]",
        ),
    ] = None,
    all_: Annotated[
        bool,
        Parameter(group=RESULTS, name="--all", help="Print every task that flipped, not ten of each skill", show_default=False),
    ] = False,
    store: PastResults = None,
) -> int:
    """Compare two evaluations skill by skill.

    The tasks that both sides ran are compared in pairs; each skill is better, worse, equivalent or inconclusive. Printed, the
    skills that lost most come first.

    Example: eval-skills report diff main.json latest --fail-on worse

    Example: eval-skills report diff main.json new.json --output diff.html
    """
    from eval_skills.cli.output.diff import FLIPS_SHOWN, show_diff
    from eval_skills.reporting.diff.report import check_diff_formats, diff_format_of

    check_diff_formats(format or [])
    if output is not None and not format:
        _check_ending(output)
    if output is None and format and (len(format) > 1 or current().json):
        raise UsageError("--format prints one format, and --json has its own; name a place for more with --output")
    _check_shares(min_effect, fail_on, margin)
    rules = {"mapping": _mapping(map_ or []), "min_effect": min_effect or 0.0, "missing": missing}
    document = _compared((before, label_a), (after, label_b), rules, fail_on, margin, store)
    if output is not None:
        _write_diff(document, format or [diff_format_of(output)], output, inputs=[Path(before), Path(after)])
    printed = format[0] if format and output is None else None
    show_diff(document, printed, flips=None if all_ else FLIPS_SHOWN, more="--all shows all")
    return GATE_FAILED if document.failures else 0


@report_app.command
def comment(
    source: Annotated[
        str, Mark.ID_OR_PATH, Parameter(help="A JSON report, a run id of the store or its beginning, or latest")
    ] = "latest",
    /,
    *,
    baseline: Annotated[
        str | None,
        Mark.ID_OR_PATH,
        Parameter(group=COMPARED, help="What it is compared with, likewise [default: nothing]"),
    ] = None,
    min_effect: Annotated[
        float | None,
        Parameter(group=COMPARED, help="Smallest change of completion, from 0 to 1, that counts as better or worse [default: 0]"),
    ] = None,
    fail_on: Annotated[
        FailOn | None,
        Parameter(group=COMPARED, help="Exit 1 when a skill is worse, or is not proven to have lost less than --margin"),
    ] = None,
    margin: Annotated[
        float | None,
        Parameter(group=COMPARED, help="Loss of completion, from 0 to 1, that --fail-on not-proven tolerates [default: 0.03]"),
    ] = None,
    format: Annotated[  # noqa: A002 - the word that people use
        Literal["github"],
        Own("a comment has a format of its own"),
        Parameter(group=RESULTS, help="Whose Markdown, limits and rules: github"),
    ] = "github",
    key: Annotated[
        str | None,
        Parameter(
            group=RESULTS,
            help="Tells the comments of several evaluations of one pull request apart [default: the benchmark's id]",
        ),
    ] = None,
    store: PastResults = None,
) -> int:
    """Write the comment of a pull request: verdicts, the tasks that flipped, worst first, and details that fold.

    The first line is hidden and says which comment the next one replaces. It fits into GitHub's limit, and names, answers and
    reasons are shown as code, where they mention nobody, add no links and contain no HTML. --json adds the conclusion of a check.

    Example: eval-skills report comment latest --baseline main.json --fail-on worse
    """
    from eval_skills.engine.report_diff import compared
    from eval_skills.engine.stored_runs.reports import read_source
    from eval_skills.reporting.pull_request import comment_of, page_of_run

    if baseline is None and (wrong := _first_given({"--fail-on": fail_on, "--margin": margin, "--min-effect": min_effect})):
        raise UsageError(f"{wrong} is about a comparison; name what the run is compared with: --baseline")
    _check_shares(min_effect, fail_on, margin)
    folder = current().config({"store": store}).store
    found = read_source(source, folder)
    document = baseline and compared(
        read_source(baseline, folder), found, fail_on=fail_on, margin=margin, min_effect=min_effect or 0.0
    )
    made = comment_of(
        found.reports, found.context, compared=document or None, key=key, remarks=found.remarks, page=page_of_run(os.environ)
    )
    if current().json:
        print_json(made.to_json())
    else:
        sys.stdout.write(made.body)
    return GATE_FAILED if fail_on and made.failures else 0


def _first_given(options: dict[str, object]) -> str | None:
    return next((name for name, value in options.items() if value is not None), None)


def _check_shares(min_effect: float | None, fail_on: FailOn | None, margin: float | None) -> None:
    if margin is not None and fail_on != "not-proven":
        raise UsageError("--margin is what --fail-on not-proven tolerates; give both, or neither")
    shares = {"--min-effect": min_effect, "--margin": margin}
    if wrong := next((name for name, share in shares.items() if share is not None and not 0 <= share <= 1), None):
        raise UsageError(f"{wrong}: give a share from 0 to 1, as 0.02 for 2 percentage points; got {shares[wrong]:g}")


def _compared(
    before: tuple[str, str | None],
    after: tuple[str, str | None],
    rules: dict[str, Any],
    fail_on: FailOn | None,
    margin: float | None,
    store: str | None,
) -> DiffDocument:
    """The comparison of two sides, each a source and what it is called."""
    from eval_skills.engine.report_diff import compared
    from eval_skills.engine.stored_runs.reports import read_source

    folder = current().config({"store": store}).store
    old, new = read_source(before[0], folder), read_source(after[0], folder)
    return compared(old, new, labels=(before[1], after[1]), fail_on=fail_on, margin=margin, **rules)


def _mapping(pairs: Sequence[str]) -> dict[str, str]:
    mapping: dict[str, str] = {}
    for pair in pairs:
        old, _, new = pair.partition("=")
        if not old or not new or old in mapping:
            problem = f"{old!r} is given twice" if old in mapping else f"give old=new, two skills' ids; got {pair!r}"
            raise UsageError(f"--map: {problem}")
        mapping[old] = new
    return mapping


def _check_ending(output: str) -> None:
    """A file whose ending speaks of none of the formats is not one that somebody wants Markdown in."""
    from eval_skills.reporting.diff.report import diff_format_of

    ending = "" if output.endswith(os.sep) or os.path.isdir(output) else Path(output).suffix.lower()
    if diff_format_of(output) == "markdown" and ending not in MARKDOWN:
        raise UsageError(
            f"--output {output}: a comparison is written as Markdown, JSON or HTML; give a file that ends in .md, .json or .html,"
            " or say which with --format"
        )


def _write_diff(document: DiffDocument, formats: list[str], output: str, *, inputs: list[Path]) -> None:
    from eval_skills.reporting.diff.report import DIFF_FORMATS
    from eval_skills.reporting.writing import target_files, write_targets

    extensions = {name: DIFF_FORMATS[name].extension for name in formats}
    files = target_files(output, extensions, "eval-diff", inputs=inputs)
    for path in write_targets({file: DIFF_FORMATS[name].render(document) for name, file in files.items()}):
        current().remark(f"diff    {path}", style="")


def _tell_files(files: list[Path], *, remarks: list[str]) -> int:

    for remark in remarks:
        current().remark(remark)
    if current().json:
        print_json({"files": [str(path) for path in files], "remarks": remarks})
    else:
        for path in files:
            current().say(f"report  {path}")
    return 0
