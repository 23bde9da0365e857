"""Two evaluations compared, from Python."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import PrivateAttr

from eval_skills.adapters.python.host.errors import a_type
from eval_skills.api.options import as_read, path_given, store_path
from eval_skills.api.result import EvaluationResult, write_by_ending
from eval_skills.core.diff.diff import EQUIVALENCE_MARGIN, SIGNIFICANCE, diff_reports
from eval_skills.core.diff.model import MissingRule, ReportDiff
from eval_skills.core.documents.loading import validate_options
from eval_skills.core.errors import UsageError
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.models.base import Model
from eval_skills.core.store import Store
from eval_skills.core.store.layout import DEFAULT_ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from eval_skills.engine.stored_runs.reports import ReportSource

SideName = Literal["baseline", "result"]
Side: TypeAlias = EvaluationResult | SkillCompletionReport | Iterable[SkillCompletionReport] | str | os.PathLike[str]
"""A result, a report or several, the path of a JSON report, a run id, or ``latest``."""


class _Pairs(Model):
    mapping: dict[str, str] | None


class Comparison(ReportDiff):
    """The comparison, skill by skill; see `ReportDiff`. It shows itself as a table in a notebook."""

    _sides: dict[SideName, ReportSource] = PrivateAttr(default_factory=dict)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it as a page, Markdown or JSON, by the ending ``.html``, ``.md`` or ``.json``: what ``eval-skills report diff``
        writes. Missing folders are made.

        Raises:
            UsageError: it is another ending, or the file cannot be written.
        """
        from eval_skills.reporting.diff.report import DIFF_FORMATS, DiffDocument

        names = {name: side.name for name, side in self._sides.items()}
        made_by = {name: side.made_by for name, side in self._sides.items()}
        document = DiffDocument(
            diff=self,
            before=names.get("baseline", "baseline"),
            after=names.get("result", "result"),
            remarks=self._said,
            before_made_by=made_by.get("baseline", {}),
            after_made_by=made_by.get("result", {}),
        )
        content = {each.extension: partial(each.render, document) for each in DIFF_FORMATS.values()}
        return write_by_ending(path, content, "a comparison")

    def __str__(self) -> str:
        from eval_skills.reporting.diff.figures import lineage, verdict_text

        lines = ((f"{lineage(skill)}: {verdict_text(skill)}", skill.explanation) for skill in self.skills)
        return "\n".join([*("; ".join(filter(None, line)) for line in lines), *self.remarks])

    def __repr__(self) -> str:
        verdicts = ", ".join(f"{skill.skill_id} {skill.verdict or skill.change}" for skill in self.skills)
        return f"<Comparison: {'; '.join(filter(None, [verdicts, self.not_compared]))}>"

    def _repr_html_(self) -> str:
        from eval_skills.reporting.notebook import comparison_table

        return comparison_table(self, self.remarks)

    @property
    def remarks(self) -> list[str]:
        """What limits the comparison: a side whose run was not finished, of whose other items nothing is known; no pair; how many
        tasks are not compared.
        """
        return [*self._said, *filter(None, [self.not_compared])]

    @property
    def _said(self) -> list[str]:
        """The remarks that do not follow from what is compared, as a page of it shows that."""
        unfinished = (_unfinished(side, name) for name, side in self._sides.items())
        return [*filter(None, unfinished), *self._unpaired]

    @property
    def _unpaired(self) -> list[str]:
        removed, added = (next((each for each in self.skills if each.change == change), None) for change in ("removed", "added"))
        if removed is None or added is None or any(skill.change == "compared" for skill in self.skills):
            return []
        if removed.benchmark_id != added.benchmark_id:
            asked = f"{removed.benchmark_id} before, {added.benchmark_id} after"
            return [f"the sides are of different benchmarks ({asked}), so nothing was compared; evaluate both on the same one"]
        pair = f"mapping={{{removed.skill_id!r}: {added.skill_id!r}}}"
        return [f"no skill is on both sides, so nothing was compared; say which took the place of which: {pair}"]


_VALID = "give a result of evaluate, reports, the path of a JSON report, or a run id"


def compare(
    result: Side,
    baseline: Side,
    *,
    mapping: Mapping[str, str] | None = None,
    min_effect: float = 0.0,
    significance: float = SIGNIFICANCE,
    equivalence_margin: float = EQUIVALENCE_MARGIN,
    missing: MissingRule = "bounds",
    store: str | os.PathLike[str] | Store | None = None,
) -> Comparison:
    """What changed from `baseline` to `result`, with the verdicts of ``eval-skills report diff``.

    Skills are paired by id; `mapping` leads from a skill of the baseline to the one that took its place. `min_effect` in [0, 1]
    is the smallest mean difference of completion that counts as better or worse. `missing`: verdicts must hold however the items
    without a verdict on the skill would have gone (``bounds``), or are made without these (``ignore``). Run ids are looked up in
    `store`, else in that of the other side, where that is a result that was kept in one, else in ``./eval-store``.

    Raises:
        UsageError: a side is nothing that can be compared, both are of one run (without a `mapping`: beside itself nothing is
            worse), or an argument is out of bounds.
        InputError: a report cannot be read, or a side holds one twice.
    """
    place = _place(store, result, baseline)
    paired = validate_options(_Pairs, {"mapping": dict(mapping) if isinstance(mapping, Mapping) else mapping}).mapping
    before, after = _source(baseline, "baseline", place), _source(result, "result", place)
    found = diff_reports(
        before.reports,
        after.reports,
        mapping=paired,
        significance=as_read(significance),
        equivalence_margin=as_read(equivalence_margin),
        min_effect=as_read(min_effect),
        missing=missing,
    )
    if not any(skill.is_beside_another for skill in found.skills):
        _refuse_itself(before.reports, after.reports)
    comparison = Comparison.model_construct(**{name: getattr(found, name) for name in ReportDiff.model_fields})
    comparison._sides = {"baseline": before, "result": after}
    return comparison


def _refuse_itself(before: Sequence[SkillCompletionReport], after: Sequence[SkillCompletionReport]) -> None:
    from eval_skills.reporting.json_report import reported_run

    runs = [run.run_id if (run := reported_run(side)) else None for side in (before, after)]
    if runs[0] is not None and runs[0] == runs[1]:
        both = f"are of run {runs[0]}"
    elif any(each.task_results is other.task_results for each in before for other in after):
        both = "hold the same report"
    else:
        return
    raise UsageError(
        f"both sides {both}, and beside itself nothing is worse; give two runs, or mapping={{'old': 'new'}} for skills of one"
    )


def _unfinished(side: ReportSource, name: SideName) -> str | None:
    from eval_skills.engine.stored_runs.reports import items_of_planned
    from eval_skills.reporting.json_report import reported_run

    if (run := reported_run(side.reports)) is None or run.partial is None:
        return None
    return f"{name} is of run {run.run_id}, which is unfinished: {items_of_planned(*run.partial)}"


def _place(store: str | os.PathLike[str] | Store | None, *sides: Side) -> str:
    """Where runs are that are named by their ids."""
    if store is not None:
        return store_path(store)
    return next((side.store for side in sides if isinstance(side, EvaluationResult) and side.store), DEFAULT_ROOT)


def _source(side: Side, name: SideName, store: str) -> ReportSource:
    """The reports of a side; those that name no run are called `name`."""
    from eval_skills.engine.stored_runs.reports import ReportSource, context_of_reports, read_source
    from eval_skills.reporting.json_report import ReportedRun, of_run, run_of

    if isinstance(side, str | os.PathLike):
        source = read_source(path_given(side, name, _VALID), store)
        return replace(source, reports=list(of_run(source.reports, run_of(source.context))))
    reports = _reports(side, name)
    if isinstance(side, EvaluationResult):
        reports = list(of_run(reports, ReportedRun(run_id=side.run_id)))
    context = context_of_reports(reports, name)
    return ReportSource(context.run_id, context.run_id, reports, context)


def _reports(side: object, name: SideName) -> list[SkillCompletionReport]:
    held = side.reports if isinstance(side, EvaluationResult) else [side] if isinstance(side, SkillCompletionReport) else side
    reports: list[Any] = list(held) if isinstance(held, Iterable) and not isinstance(held, bytes | Mapping) else [held]
    if strange := [each for each in reports if not isinstance(each, SkillCompletionReport)]:
        said = "is" if strange[0] is side else "holds"
        raise UsageError(f"{name} {said} {a_type(strange[0])}; {_VALID}")
    if not reports:
        raise UsageError(f"{name} holds no report; evaluate skills first")
    return reports
