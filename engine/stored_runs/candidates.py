"""What `select` chooses from (skills and their reports), and by which strategy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eval_skills.core.documents.loading import read_document, validate
from eval_skills.core.errors import InputError
from eval_skills.core.models import Skill, SkillCompletionReport
from eval_skills.core.models.task import OWN_TESTS
from eval_skills.core.ranking import Outcomes, rank_by_task_results, rank_reports
from eval_skills.core.selection import SelectStrategy, load_strategy
from eval_skills.core.skills import Discovery, discover_skills, refuse_duplicates, why_none
from eval_skills.core.store import Store
from eval_skills.core.text import first_of
from eval_skills.reporting.json_report import began, read_reports

ITEM_COLUMNS = (
    "run_id", "skill_id", "skill_version", "benchmark_id", "task_id", "task_digest", "status", "error_kind",
)  # fmt: skip
"""What ranks are computed from."""

_SKILLS_NAMED = 3


def load_candidates(path: Path) -> Discovery:
    """The skills below a folder, or those in a JSON file: an array of skills, or of a selection's entries.

    Raises:
        InputError: there is no such folder or file, it holds no skill, or a skill in the file is malformed.
        UsageError: one ``id@version`` is in two folders.
    """
    found = discover_skills(path) if path.is_dir() else Discovery(_skills_in(path))
    if not found.skills:
        reason = why_none(found) if found.invalid or found.remarks else "there is no skill to select from"
        raise InputError(reason, source=path)
    refuse_duplicates(found.skills)
    return found


def load_reports(paths: Sequence[Path], store: str) -> list[SkillCompletionReport]:
    """The reports of JSON report files, or without any the last report of every skill in the store.

    Of several reports of a skill, that of the run that began last counts, whatever its benchmark.

    Raises:
        InputError: a file is not an array of reports, or is empty; or the store holds no report.
    """
    if not paths:
        reports = Store(store).last_reports()
        if not reports:
            raise InputError("this store holds no report; evaluate the skills first, or name a file with --reports", source=store)
        return reports
    youngest: dict[str, SkillCompletionReport] = {}
    for report in sorted((each for path in paths for each in read_reports(path)), key=began):
        youngest[report.skill_key] = report
    return list(youngest.values())


def rank_candidates(skills: Sequence[Skill], reports: Sequence[SkillCompletionReport], store: str) -> list[SkillCompletionReport]:
    """The reports of these skills, ranked among themselves within each benchmark.

    By the items that the reports hold, or by those of their runs in the store; where these are gone, there is no ranking.
    """
    keys = {skill.key for skill in skills}
    known = [report for report in reports if report.skill_key in keys]
    if len(known) < 2 or any(report.task_results or report.benchmark_id == OWN_TESTS for report in known):
        return rank_by_task_results(known)
    runs = {report.skill_key: str(report.evaluator_metadata.get("runId", "")) for report in known}
    items = Store(store).items(run_id=set(runs.values()), columns=[*ITEM_COLUMNS])
    items = items[(items["skill_id"] + "@" + items["skill_version"]).map(runs) == items["run_id"]]
    ranked: dict[str, SkillCompletionReport] = {}
    for benchmark, rows in items.groupby("benchmark_id"):
        same = [report for report in known if report.benchmark_id == benchmark]
        ranked |= {report.skill_key: report for report in rank_reports(same, Outcomes.of_items(rows))}
    return [ranked.get(report.skill_key, report.model_copy(update={"ranking": None})) for report in known]


def several_benchmarks(reports: Sequence[SkillCompletionReport]) -> str | None:
    """In a sentence, which of these reports, one for each skill, are on which benchmark; None where all are on the same one."""
    asked: dict[str, list[str]] = {}
    for report in reports:
        asked.setdefault(report.benchmark_id, []).append(report.skill_key)
    if len(asked) < 2:
        return None
    which = "; ".join(f"on {benchmark}: {first_of(sorted(skills), _SKILLS_NAMED)}" for benchmark, skills in sorted(asked.items()))
    return (
        f"the figures are of {len(asked)} benchmarks, so they do not say which skill is better: {which}; "
        "evaluate all of them on one, or name its reports with --reports"
    )


def _skills_in(path: Path) -> list[Skill]:
    entries = read_document(path)
    if not isinstance(entries, list):
        raise InputError("expected an array of skills", source=path)
    bare = [entry["skill"] if isinstance(entry, dict) and isinstance(entry.get("skill"), dict) else entry for entry in entries]
    return [validate(Skill, entry, source=f"{path}: [{index}]") for index, entry in enumerate(bare)]


DEFAULT_MIN_COMPLETION = 0.7


def chosen_strategy(
    file: str | Path | None,
    *,
    min_completion: float | None = None,
    top_k: int | None = None,
    keep_ties: bool = False,
    floor: float | None = None,
) -> SelectStrategy:
    """The strategy of a file (or the default one); explicit arguments replace what it says.

    `floor` is the completion rate to require when neither the call nor the file names one.

    Raises:
        InputError: the file cannot be used.
    """
    strategy = load_strategy(Path(file)) if file else SelectStrategy()
    return adjusted_strategy(strategy, min_completion=min_completion, top_k=top_k, keep_ties=keep_ties, floor=floor)


def adjusted_strategy(
    strategy: SelectStrategy,
    *,
    min_completion: float | None = None,
    top_k: int | None = None,
    keep_ties: bool = False,
    floor: float | None = None,
) -> SelectStrategy:
    """The strategy with these arguments in place of what it says; `floor` as in `chosen_strategy`."""
    filters = strategy.filters
    lowest = next((rate for rate in (min_completion, filters.min_completion_rate, floor) if rate is not None), None)
    filters = filters.model_copy(update={"min_completion_rate": lowest})
    return strategy.model_copy(
        update={
            "filters": filters,
            "top_k": top_k if top_k is not None else strategy.top_k,
            "keep_ties": keep_ties or strategy.keep_ties,
        }
    )
