"""The ranking of skills in words: shared ranks, what is known of the best one, and which figures lack items."""

from __future__ import annotations

from collections.abc import Sequence

from eval_skills.core.models import Ranking, SkillCompletionReport
from eval_skills.core.text import plural
from eval_skills.reporting import numbers

NAMES_SHOWN = 5
MISSING_MARK = "*"


def rank_text(report: SkillCompletionReport, place: int) -> str:
    """``1–4`` for ranks that are shared, ``5`` for one's own; a dash for a skill of which nothing is known.

    Where nothing was ranked it is the `place`, counted from 1.
    """
    found = report.ranking
    if found is None:
        return str(place) if report.summary.has_verdict else numbers.UNKNOWN
    return str(found.rank) if found.rank == found.last_rank else f"{found.rank}–{found.last_rank}"


def rank_interval(found: Ranking | None) -> str:
    """``1 to 6``, or ``6`` alone; a dash where it is not known."""
    if found is None or found.rank_lower is None:
        return numbers.UNKNOWN
    return str(found.rank_lower) if found.rank_lower == found.rank_upper else f"{found.rank_lower} to {found.rank_upper}"


def completion_text(report: SkillCompletionReport, gate: float | None = None) -> str:
    """``85.0 %``, with a mark where items have no verdict on the skill; a dash where none has. What is not `gate` looks so."""
    mark = f" {MISSING_MARK}" if report.summary.missing_items else ""
    return numbers.rate_beside(report.summary.known_completion, gate) + mark


def ranking_notes(ordered: Sequence[SkillCompletionReport]) -> list[str]:
    """What is to be known of a ranking, best first, in sentences; none where there is nothing to compare."""
    return [*_leader(ordered), *_ties(ordered), *_pareto(ordered), *caveats(ordered)]


def caveats(ordered: Sequence[SkillCompletionReport]) -> list[str]:
    """A sentence for each skill with items of several versions of its files, and for each with items without a verdict; of very
    many the first ones."""
    return [*_mixed(ordered), *_missing_of(ordered)]


def _mixed(ordered: Sequence[SkillCompletionReport]) -> list[str]:
    lines = [f"{report.skill_key}: {said}" for report in ordered if (said := report.several_versions)]
    return [*lines[:NAMES_SHOWN], *([f"and {plural(more, 'more skill')}"] if (more := len(lines) - NAMES_SHOWN) > 0 else [])]


def _missing_of(ordered: Sequence[SkillCompletionReport]) -> list[str]:
    found = [report for report in ordered if report.summary.missing_items]
    lines = [_missing(report) for report in found[:NAMES_SHOWN]]
    more = len(found) - NAMES_SHOWN
    return [*lines, f"{MISSING_MARK} and items of {plural(more, 'more skill')}"] if more > 0 else lines


def ties_line(left_out: Sequence[str]) -> str:
    """That a selection stops in the midst of skills that share their ranks."""
    return f"top-k cuts through a tie: the tasks cannot tell {_listed(left_out)} from a selected skill; --keep-ties keeps them"


def _leader(ordered: Sequence[SkillCompletionReport]) -> list[str]:
    """Of the best one, where others share its ranks and none its completion rate."""
    tied = [(report, report.ranking) for report in ordered if report.ranking and report.ranking.rank == 1]
    rates = [report.summary.completion_rate for report, _ in tied]
    if len(rates) < 2 or rates.count(rates[0]) > 1 or len({report.benchmark_id for report in ordered}) > 1:
        return []
    best, place = tied[0]
    # the corrected rate is over the items with a verdict, and only one over the same is to be held beside it
    missing = best.summary.missing_items
    plain = numbers.rate(best.summary.judged_completion_rate if missing else rates[0])
    corrected, chance = numbers.rate(place.shrunk_completion_rate), place.probability_best
    picked = "" if plain == corrected else f", or {corrected} when corrected for being picked"
    sure = "" if chance is None else f"; the chance that it is truly best is {numbers.rate(chance)}"
    of = " of the items with a verdict" if missing else ""
    return [f"{best.skill_key} leads with {plain}{of}{picked}{sure}"]


def _ties(ordered: Sequence[SkillCompletionReport]) -> list[str]:
    shared = any(report.ranking and report.ranking.rank < report.ranking.last_rank for report in ordered)
    return ["skills with the same ranks cannot be told apart on these tasks"] if shared else []


def _pareto(ordered: Sequence[SkillCompletionReport]) -> list[str]:
    names = [report.skill_key for report in ordered if report.ranking and report.ranking.pareto_optimal]
    return [f"best trade-offs of completion, P95 and cost: {_listed(names)}"] if names else []


def _missing(report: SkillCompletionReport) -> str:
    summary = report.summary
    rate = summary.judged_completion_rate
    known = "" if rate is None else f"; of the others {numbers.rate(rate)} passed"
    bounds = f"{numbers.rate(summary.completion_rate)} and {numbers.rate(summary.completion_upper_bound)}"
    items = f"{plural(summary.missing_items or 0, 'item')} of {report.skill_key}"
    return f"{MISSING_MARK} {items} without a verdict: completion lies between {bounds}{known}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - NAMES_SHOWN
    return ", ".join([*names[:NAMES_SHOWN], *([f"and {more} more"] if more > 0 else [])])
