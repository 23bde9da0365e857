"""The result of an evaluation, as a Python program and a notebook see it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from eval_skills.api.options import path_given
from eval_skills.core.errors import UsageError
from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.text import plural
from eval_skills.reporting import numbers
from eval_skills.reporting.lines import explanation, headline

if TYPE_CHECKING:
    import pandas as pd

    from eval_skills.reporting.writing import Content

FAILURES_IN_TEXT = 20


def write(file: Path, content: Content) -> Path:
    """Write a file so that it is there whole or not at all; missing folders are made.

    Raises:
        UsageError: it cannot be written.
    """
    from eval_skills.reporting.writing import refuse_unfit, write_targets

    try:
        real = Path(os.path.realpath(file))  # what a link leads to is written, and the link stays
        refuse_unfit(real)
        write_targets({real: content})
    except UsageError as error:
        raise UsageError(str(error).removeprefix("--output ")) from None
    except OSError as error:
        raise UsageError(f"{file}: this file cannot be written: {error.strerror}; name another") from None
    return file


def write_by_ending(path: str | os.PathLike[str], content: Mapping[str, Callable[[], str | bytes]], what: str) -> Path:
    """Write to a file what `content` has for its ending (``html``); `what` names it in an error.

    Raises:
        UsageError: it is another ending, or the file cannot be written.
    """
    valid = ", ".join(f".{ending}" for ending in content)
    file = Path(path_given(path, "path", f"give the path of a file that ends in {valid}"))
    if (render := content.get(file.suffix.lower().removeprefix("."))) is None:
        raise UsageError(f"{file}: no report of {what} ends like this; valid endings are {valid}")
    return write(file, render())


class EvaluatedItem(TaskResult):
    """One item: the answer of `skill` (``id@version``) to one task in one run, counted from 0, with its verdict and reasons."""

    skill: str


@dataclass(frozen=True)
class EvaluationResult:
    """The result of one evaluation. In a notebook it shows itself as a table; as text it gives the reasons of failures.

    `reports` holds a report per skill, in the order of the skills. `remarks` are warnings that stopped nothing. `run_id` names
    the run in `store`, which is None where nothing was kept. `stopped` says at which limit the run stopped, what was
    spent, and how many items are done; None where no limit did. `planned` counts the items of a run that stopped early, with
    those that were not asked; None for one that is whole.
    """

    reports: list[SkillCompletionReport]
    run_id: str
    store: str | None = None
    remarks: list[str] = field(default_factory=list)
    stopped: str | None = None
    planned: int | None = None

    @property
    def completion(self) -> float:
        """The share of all items that passed, in [0, 1]; with several skills, of the items of all of them.

        All are those that were planned: what a run that stopped early did not ask has not passed. Its reports, and the lines
        made of them, count what was asked.
        """
        passed = sum(round(report.summary.completion_rate * (report.summary.items or 0)) for report in self.reports)
        return passed / max(1, self._planned)

    @cached_property
    def items(self) -> list[EvaluatedItem]:
        """Every item, skill by skill.

        Raises:
            UsageError: there are more items than reports list one by one.
        """
        items = [
            EvaluatedItem.model_construct(
                skill=report.skill_key, **{name: getattr(each, name) for name in TaskResult.model_fields}
            )
            for report in self.reports
            for each in report.task_results
        ]
        if len(items) < self._count:
            place = (
                f"es.Store({self.store!r}).items(run_id={self.run_id!r})" if self.store else "a store: evaluate with store=PATH"
            )
            raise UsageError(f"the result of {self._count:,} items holds their figures only; read the items from {place}")
        return items

    @property
    def failures(self) -> list[EvaluatedItem]:
        """The items that did not pass: failed ones, errors and timeouts. Raises as `items`."""
        return [item for item in self.items if not item.passed]

    def to_pandas(self) -> pd.DataFrame:
        """The items, one row each: `skill` and the fields of a `TaskResult`; `reasons` as one text, tool calls as dicts.

        Raises:
            UsageError: as `items`.
        """
        import pandas as pd

        columns = ["skill", *TaskResult.model_fields]
        rows = []
        for item in self.items:
            row = {name: getattr(item, name) for name in columns}
            row["reasons"] = "; ".join(f"{reason.code}: {reason.text}" for reason in item.reasons)
            row["tool_calls"] = None if item.tool_calls is None else [call.to_json() for call in item.tool_calls]
            rows.append(row)
        return pd.DataFrame(rows, columns=columns)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the reports as a page, Markdown, a table or JUnit, by the ending ``.html``, ``.md``, ``.csv``, ``.parquet`` or
        ``.xml``; else as a JSON report, which `compare` and ``eval-skills report`` read. Missing folders are made.

        They name their run, so that no gate compares it with itself.

        Raises:
            UsageError: the file cannot be written, its name ends as that of another program's format does (``.jsonl``), or a
                JSON report is larger than the 512 MiB that are read of one.
        """
        from eval_skills.engine.stored_runs.reports import context_of_reports
        from eval_skills.reporting.json_report import ReportedRun, of_run, parts
        from eval_skills.reporting.writing import OWN_FORMATS, Pieces, format_named, format_of_ending

        endings = ", ".join(f".{format_named(name).extension}" for name in OWN_FORMATS)
        file = Path(path_given(path, "path", f"give the path of a file that ends in {endings}"))
        name = format_of_ending(file) or "json"
        if name not in OWN_FORMATS:
            convert = f"eval-skills report convert --input {file.with_suffix('.json')} --format {name} --output {file}"
            raise UsageError(f"{file}: a result is saved as {endings}; save it as JSON, then write this one with: {convert}")
        reports = of_run(self.reports, ReportedRun(run_id=self.run_id))
        if name == "json":
            return write(file, Pieces(lambda: self._readable(parts(reports), file)))
        return write(file, format_named(name).content(reports, context_of_reports(reports, self.run_id)))

    def _readable(self, pieces: Iterator[str], file: Path) -> Iterator[str]:
        """The pieces, as long as a report of so many bytes is read again."""
        from eval_skills.reporting.json_report import MAX_REPORT_BYTES

        written = 0
        for piece in pieces:
            written += len(piece.encode())
            if written > MAX_REPORT_BYTES:
                kept = f"run {self.run_id} is kept in {self.store}" if self.store else "keep the run with store=PATH"
                raise UsageError(
                    f"{file}: the report has more than the {MAX_REPORT_BYTES:,} bytes that are read of one, and is not written; "
                    f"{kept}, and compare it by its id, or write what you need of to_pandas()"
                )
            yield piece

    @property
    def _count(self) -> int:
        return sum(report.summary.items or 0 for report in self.reports)

    @property
    def _planned(self) -> int:
        return self._count if self.planned is None else self.planned

    def __str__(self) -> str:
        return "\n".join([*(explanation(report, FAILURES_IN_TEXT) for report in self.reports), *self.remarks])

    def __repr__(self) -> str:
        if len(self.reports) == 1 and self.planned is None:
            return f"<{headline(self.reports[0])}>"
        benchmark = self.reports[0].benchmark_id if self.reports else "nothing"
        counted = f"completion {numbers.rate(self.completion)} of {plural(self._planned, 'item')}"
        return f"<{plural(len(self.reports), 'skill')} on {benchmark}: {counted}>"

    def _repr_html_(self) -> str:
        from eval_skills.reporting.notebook import result_table

        return result_table(self.reports, self.remarks)
