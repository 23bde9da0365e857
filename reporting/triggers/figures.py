"""How the figures of triggers are shown to people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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


RATE_MEANINGS = {
    "recall": "of the runs that should load it, the share that did",
    "precision": "of the runs that loaded it, the share that should have",
    "false alarms": "of the runs of near-misses, the share that loaded it all the same",
}


def rates_with_meaning(found: Triggers) -> list[tuple[tuple[str, ...], TriggerRate, str]]:
    """The rows of `rate_rows`, each with its figures and what it says."""
    rates = (found.recall, found.precision, found.false_alarms)
    return [(row, rate, RATE_MEANINGS[row[0]]) for row, rate in zip(rate_rows(found), rates, strict=True)]


@dataclass(frozen=True, slots=True)
class LoadRow:
    """What was loaded, and in how many runs of both kinds of queries; `is_name` where it is the name of an Agent Skill."""

    name: str
    wanted: int
    unwanted: int
    is_name: bool


def load_rows(found: Triggers) -> list[LoadRow]:
    """The Agent Skill, each other that was loaded or lay beside it, nothing, and unknown; by runs of both kinds of queries."""
    halves = [[each for each in found.queries if each.should_trigger is kind] for kind in (True, False)]
    names = dict.fromkeys([*found.neighbours, *(name for each in found.queries for name in each.others)])

    def row(name: str, count: Callable[[QueryResult], int], *, is_name: bool) -> LoadRow:
        wanted, unwanted = (sum(map(count, half)) for half in halves)
        return LoadRow(name, wanted, unwanted, is_name)

    return [
        row(found.skill, lambda each: each.loaded, is_name=True),
        *(row(name, lambda each, name=name: each.others.get(name, 0), is_name=True) for name in names),  # type: ignore[misc]
        row("nothing", lambda each: each.nothing, is_name=False),
        row("unknown (missing runs)", lambda each: each.missing, is_name=False),
    ]


def query_cells(each: QueryResult) -> tuple[str, ...]:
    """A query under `QUERY_COLUMNS`."""
    missing = f", {each.missing} missing" if each.missing else ""
    return (
        each.query,
        should(each),
        f"{each.loaded} of {each.observed}{missing}",
        numbers.interval(each.interval) if each.observed else UNKNOWN,
        others(each),
    )


def should(each: QueryResult) -> str:
    """``load`` or ``not load``."""
    return "load" if each.should_trigger else "not load"


def others(each: QueryResult) -> str:
    """The neighbours that were loaded, each with its number of runs: ``pdf 2``; a dash where none was."""
    return ", ".join(f"{name} {count}" for name, count in each.others.items()) or UNKNOWN


def outcome(each: QueryResult) -> tuple[str, str]:
    """What a query did, as a class of the style sheet and in words: right, wrong, unknown, or open."""
    if each.passed is None:
        return "unsure", "? unknown"
    if each.left_open:
        return "unsure", "✔ so far, open" if each.passed else "✘ so far, open"
    return ("pass", "✔ as it should") if each.passed else ("fail", "✘ wrong")


def failure_words(each: QueryResult) -> str:
    """What a query did in place of what it should."""
    return f"loaded in {each.loaded} of {plural(each.observed, 'run')}, and should {'' if each.should_trigger else 'not '}be"


def confusion_lines(found: Triggers) -> list[str]:
    """Which neighbours took queries of this skill, the greediest first."""
    return [f"{name} was loaded in its place in {plural(count, 'run')}" for name, count in found.confusion.items()]
