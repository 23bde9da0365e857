"""The report as JSON: an array of completion reports, with every item and every figure unrounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from eval_skills.core.documents.loading import read_document, validate
from eval_skills.core.errors import InputError
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.models.base import Model
from eval_skills.core.store.layout import is_run_id, started_at
from eval_skills.reporting.context import ReportContext, ranked
from eval_skills.reporting.escape import json_document

MAX_REPORT_BYTES = 512 * 1024 * 1024
"""What is read of a report: a run of many items, or of long answers, has more than other documents may."""

OF_RUN = "reportedRun"
"""The key of a report's `evaluator_metadata` with what a gate must know of its run, and the manifest alone would say."""


class ReportedRun(Model):
    """What a gate must know of the run that a report file is of: its id, the items of one that was not finished, its gate, and
    why skills that were asked for could not be used."""

    run_id: str
    finished_items: int | None = None
    planned_items: int | None = None
    min_completion: float | None = None
    skipped: list[str] | None = None

    @property
    def partial(self) -> tuple[int, int] | None:
        """(finished, planned) items of a run that was not finished; None of one that was."""
        if self.finished_items is None or self.planned_items is None:
            return None
        return self.finished_items, self.planned_items


def render(reports: Sequence[SkillCompletionReport], context: ReportContext) -> str:
    """`render_reports`, with what `context` says of a run that was not finished, or has a gate."""
    return "".join(parts(reports, context))


def render_reports(reports: Sequence[SkillCompletionReport]) -> str:
    """The array as text, the best skill first."""
    return "".join(parts(reports))


def reported_run(reports: Sequence[SkillCompletionReport]) -> ReportedRun | None:
    """What the reports of a file say of their run; None where they say nothing, as those of earlier versions of finished runs.

    Raises:
        InputError: one of them says it in an unknown form, so that a gate cannot know.
    """
    said = [report.evaluator_metadata[OF_RUN] for report in reports if OF_RUN in report.evaluator_metadata]
    try:
        runs = [ReportedRun.model_validate(each) for each in said]
    except ValidationError as error:
        raise InputError(f"evaluatorMetadata.{OF_RUN}: {error.errors()[0]['msg']}; write the report again") from None
    return next((run for run in runs if run.partial), runs[0] if runs else None)


def began(report: SkillCompletionReport) -> datetime:
    """When (UTC) the run of the report began, by its id; where the report does not say it, when its last item did."""
    run = reported_run([report])
    if run is not None and is_run_id(run.run_id):
        return started_at(run.run_id)
    return report.timestamp if report.timestamp.tzinfo else report.timestamp.replace(tzinfo=UTC)


def parts(reports: Sequence[SkillCompletionReport], context: ReportContext | None = None) -> Iterator[str]:
    """The same text piece by piece, at most an item long: a report of many items takes their memory once, not four times."""
    opening = "[\n"
    for report in ranked(reports if context is None else of_run(reports, run_of(context))):
        yield opening
        yield from _report(report)
        opening = ",\n"
    yield "\n]\n" if reports else "[]\n"


def of_run(reports: Sequence[SkillCompletionReport], run: ReportedRun | None) -> Sequence[SkillCompletionReport]:
    """The reports, saying of their run what `reported_run` reads; one that says so already stays as it is."""
    if run is None:
        return reports
    said = {OF_RUN: run.to_json()}
    return [each.model_copy(update={"evaluator_metadata": said | each.evaluator_metadata}) for each in reports]


def run_of(context: ReportContext) -> ReportedRun | None:
    """What reports say of the run of `context`; None where it has no id, and there is nothing else to say."""
    if context.partial is None and context.min_completion is None and not is_run_id(context.run_id):
        return None
    finished, planned = context.partial or (None, None)
    return ReportedRun(
        run_id=context.run_id,
        finished_items=finished,
        planned_items=planned,
        min_completion=context.min_completion,
        skipped=list(context.skipped) or None,
    )


def _report(report: SkillCompletionReport) -> Iterator[str]:
    before, after = _written(report.model_copy(update={"task_results": []}).to_json(), 1).split(_NO_ITEMS)
    yield before
    opening = '\n    "taskResults": ['
    for result in report.task_results:
        yield f"{opening}\n{_written(result.to_json(), 3)}"
        opening = ","
    yield "\n    ]" if report.task_results else _NO_ITEMS
    yield after


_NO_ITEMS = '\n    "taskResults": []'
"""A line that no text of a report can hold: JSON writes line breaks and quotes in texts as escapes."""


def _written(data: Any, depth: int) -> str:
    text = json_document(data)
    pad = "  " * depth
    return pad + text.replace("\n", f"\n{pad}")  # the only line breaks: those of texts are escaped


def read_reports(path: Path) -> list[SkillCompletionReport]:
    """The completion reports in a JSON report file, in the order they are in.

    Raises:
        InputError: the file cannot be read, has more than 512 MiB, or is not an array of completion reports, or an empty one; a
            report contradicts its own items or counts, or a skill or an item is there twice. The message names the place in it.
    """
    data = read_document(path, most_bytes=MAX_REPORT_BYTES)
    if not isinstance(data, list):
        raise InputError(f"a report is an array of completion reports; this is a {type(data).__name__}", source=path)
    if not data:
        raise InputError("it holds no report", source=path)
    reports = [_validated(entry, index, path) for index, entry in enumerate(data)]
    first: dict[tuple[str, str], int] = {}
    for index, report in enumerate(reports):
        if (other := first.setdefault((report.skill_key, report.benchmark_id), index)) != index:
            said = f"{report.skill_key} on {report.benchmark_id} is there twice: [{other}] is its report, too"
            raise InputError(said, source=path, path=f"[{index}]")
    return reports


def _validated(entry: object, index: int, path: Path) -> SkillCompletionReport:
    from eval_skills.reporting.contradictions import refuse_contradictions  # with NumPy, which no report is written with

    try:
        report = validate(SkillCompletionReport, entry)
        refuse_contradictions(report)
    except InputError as error:
        place = f"[{index}]" + (f".{error.path}" if error.path else "")
        raise InputError(error.message, source=path, path=place) from None
    return report
