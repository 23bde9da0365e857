"""Which dimensions of agent runs a report shows to people, and in which words."""

from __future__ import annotations

from collections.abc import Sequence

from eval_skills.core.models import DimensionSummary, SkillCompletionReport
from eval_skills.core.models.report import in_order
from eval_skills.core.text import plural
from eval_skills.reporting import numbers


def shown_dimensions(reports: Sequence[SkillCompletionReport]) -> list[str]:
    """The dimensions that any of the skills was scored on.

    None where that is the output's quality alone: it then says of an answer what its score says, and the partial score is there.
    """
    names = in_order(name for report in reports for name in report.dimensions)
    return [] if names == ["output_quality"] else names


def dimension_title(name: str) -> str:
    """``tool_accuracy`` as ``Tool accuracy``, ``rubric.completeness`` as ``Rubric: completeness``."""
    words = name.replace("_", " ").replace(".", ": ")
    return words[:1].upper() + words[1:]


def mean_of(report: SkillCompletionReport, name: str) -> float | None:
    """The skill's mean on one dimension; None where it was not scored on it."""
    found = report.dimensions.get(name)
    return None if found is None else found.mean


def dimension_text(found: DimensionSummary | None) -> str:
    """``0.7500 over 12 items``."""
    return numbers.UNKNOWN if found is None else f"{numbers.score(found.mean)} over {plural(found.items, 'item')}"
