"""What a report shows of the run beside the figures of its skills: its order, and the dimensions of agent runs in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from eval_skills.core.models import Benchmark, DimensionSummary, SkillCompletionReport
from eval_skills.core.models.report import completion_order, in_order
from eval_skills.core.store.layout import is_run_id, started_at
from eval_skills.core.text import plural
from eval_skills.reporting import numbers

_OF_MODELS = frozenset({"judge", "simulator"})


@dataclass(frozen=True, slots=True)
class Provenance:
    """Of what a run was made: facts in words, by their titles, and the command that repeats it, where one can."""

    facts: Mapping[str, str]
    command: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportContext:
    """The run that is reported.

    `created_at` must know its time zone. `min_completion` is the gate's threshold in [0, 1], None where no gate was set.
    `partial` is (finished, planned) items of a run that did not finish. `skipped` says of each skill that was asked for and could
    not be used why. `ranks` are the ranks of the selected skills by
    ``id@version``; None where nothing was selected from, empty where nothing was good enough. `notes` are sentences on the run.
    `provenance` is None where no manifest says where it comes from.
    """

    run_id: str
    created_at: datetime
    benchmark: Benchmark | None = None
    title: str = "Skill evaluation"
    min_completion: float | None = None
    partial: tuple[int, int] | None = None
    skipped: tuple[str, ...] = ()
    ranks: Mapping[str, int] | None = None
    notes: tuple[str, ...] = ()
    provenance: Provenance | None = None

    def __post_init__(self) -> None:
        if self.created_at.tzinfo is None:
            raise ValueError(
                f"created_at {self.created_at.isoformat()} has no time zone; give an aware datetime, as datetime.now(UTC)"
            )

    @property
    def created_utc(self) -> datetime:
        """`created_at` in UTC."""
        return self.created_at.astimezone(UTC)

    @property
    def began_utc(self) -> datetime | None:
        """When the run began, by its id; None where that is not known, as of a report file."""
        return started_at(self.run_id) if is_run_id(self.run_id) else None

    @property
    def stem(self) -> str:
        """The name that all report files of the run share: ``eval-result-2026-11-21T23-38-24-123Z``."""
        time = self.created_utc.replace(tzinfo=None).isoformat(timespec="milliseconds")
        return f"eval-result-{time}Z".replace(":", "-").replace(".", "-")

    @property
    def is_whole(self) -> bool:
        """Whether all that was asked for was evaluated; without that no gate has passed, however good the skills are."""
        return self.partial is None and not self.skipped

    def meets_gate(self, report: SkillCompletionReport) -> bool | None:
        """Whether the skill completed at least as much as the gate asks for, and is known to have called nothing forbidden.

        A skill with an item that a model failed to judge, or whose user a model failed to play, does not meet the gate. None
        without a gate.
        """
        completes, summary = self.completes(report), report.summary
        return completes and not (summary.forbidden_items or summary.forbidden_unknown_items or models_failed(report))

    def completes(self, report: SkillCompletionReport) -> bool | None:
        """Whether the skill completed at least as much as the gate asks for; None without a gate.

        A skill without a verdict on any item did not, even where the gate asks for 0.
        """
        if self.min_completion is None:
            return None
        return report.summary.has_verdict and report.summary.completion_rate >= self.min_completion

    def selected_rank(self, report: SkillCompletionReport) -> int | None:
        """The rank that selection gave the skill; None where it was not selected."""
        return None if self.ranks is None else self.ranks.get(report.skill_key)


def models_failed(report: SkillCompletionReport) -> bool:
    """Whether an item lacks its verdict because a model failed that was to judge it, or to play its user."""
    return bool(report.summary.unjudged_items) or any(item.error_kind in _OF_MODELS for item in report.task_results)


def ranked(reports: Iterable[SkillCompletionReport]) -> list[SkillCompletionReport]:
    """The reports, best first; see `completion_order`. Those of one benchmark come by the groups of their ranking before that.

    A skill whose completion looks low because items are missing so stands among those that it may be as good as; one of which
    nothing is known comes last.
    """
    ordered = sorted(reports, key=completion_order)
    if len({report.benchmark_id for report in ordered}) > 1 or not any(report.ranking for report in ordered):
        return ordered
    return sorted(ordered, key=lambda report: report.ranking.rank if report.ranking else math.inf)


def shown_dimensions(reports: Sequence[SkillCompletionReport]) -> list[str]:
    """The dimensions that any of the skills was scored on.

    None where that is the output's quality alone: it then says of an answer what its score says, and the partial score is there.
    """
    names = in_order(name for report in reports for name in report.dimensions)
    return [] if names == ["output_quality"] else names


def k_of(report: SkillCompletionReport) -> str:
    """The k of pass@k; the letter where the report does not say it."""
    k = report.evaluator_metadata.get("k")
    return str(k) if isinstance(k, int) else "k"


def benchmarks_of(reports: Iterable[SkillCompletionReport]) -> list[str]:
    """The benchmarks of reports as these know them: ``sums 1.0.0, scored by binary``, or the id alone."""
    return list(dict.fromkeys(map(_benchmark_of, reports)))


def _benchmark_of(report: SkillCompletionReport) -> str:
    version, scoring = (report.evaluator_metadata.get(name) for name in ("benchmarkVersion", "scoringMethod"))
    named = f"{report.benchmark_id} {version}" if version else report.benchmark_id
    return f"{named}, scored by {scoring}" if scoring else named


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
