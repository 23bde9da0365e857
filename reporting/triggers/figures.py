"""How the figures of triggers are shown to people."""

from __future__ import annotations

from eval_skills.core.text import plural
from eval_skills.core.triggers import QueryResult, TriggerRate, Triggers
from eval_skills.reporting import numbers
from eval_skills.reporting.numbers import UNKNOWN

RATE_COLUMNS = ("", "rate", "95 % interval", "with missing runs")
QUERY_COLUMNS = ("query", "should", "loaded", "95 % interval", "others loaded")


def title(found: Triggers) -> str:
    """``csv-tools on opencode (openai/gpt-5): 20 queries; beside it pdf-tools``."""
    model = f" ({found.model})" if found.model else ""
    beside = f"; beside it {', '.join(found.neighbours)}" if found.neighbours else ""
    return f"{found.skill} on {found.agent}{model}: {plural(len(found.queries), 'query')}{beside}"


def rate_rows(found: Triggers) -> list[tuple[str, ...]]:
    """Recall, precision and false alarms under `RATE_COLUMNS`."""
    rows = (("recall", found.recall), ("precision", found.precision), ("false alarms", found.false_alarms))
    return [(name, numbers.rate(each.rate), numbers.interval(each.interval), _bounds(each, found.missing)) for name, each in rows]


def _bounds(rate: TriggerRate, missing: int) -> str:
    if not missing or rate.lower_bound is None or rate.upper_bound is None:
        return UNKNOWN
    return f"{numbers.rate(rate.lower_bound)} to {numbers.rate(rate.upper_bound)}"


def query_cells(each: QueryResult) -> tuple[str, ...]:
    """A query under `QUERY_COLUMNS`."""
    missing = f", {each.missing} missing" if each.missing else ""
    others = ", ".join(f"{name} {count}" for name, count in each.others.items())
    return (
        each.query,
        "load" if each.should_trigger else "not load",
        f"{each.loaded} of {each.observed}{missing}",
        numbers.interval(each.interval) if each.observed else UNKNOWN,
        others or UNKNOWN,
    )


def failure_words(each: QueryResult) -> str:
    """What a query did in place of what it should."""
    return f"loaded in {each.loaded} of {plural(each.observed, 'run')}, and should {'' if each.should_trigger else 'not '}be"


def confusion_lines(found: Triggers) -> list[str]:
    """Which neighbours took queries of this skill, the greediest first."""
    return [f"{name} was loaded in its place in {plural(count, 'run')}" for name, count in found.confusion.items()]
