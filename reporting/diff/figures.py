"""How a comparison's figures are shown to people: with sign and unit, and whether a change is welcome said in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from eval_skills.core.diff.diff import SIGNIFICANCE
from eval_skills.core.diff.model import (
    JUDGEMENTS,
    DifferenceInterval,
    DiffRow,
    Flip,
    FlipSide,
    Metric,
    NewlyFailing,
    PairedStatistics,
    SkillDiff,
)
from eval_skills.core.text import LEAST_CHANCE, chance_text, natural_order, p_is, plural
from eval_skills.reporting import numbers
from eval_skills.reporting.numbers import UNKNOWN, points


def _one_decimal(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:z.1f}"


def _moved(decimals: int, unit: str = "", most: int = numbers.MOST_DECIMALS) -> Callable[[float], str]:
    return lambda delta: f"{numbers.signed(delta, decimals, most)}{unit}"


_SHOWN: dict[Metric, tuple[str, Callable[[float | None], str], Callable[[float], str]]] = {
    "completionRate": ("completion", numbers.rate, points),
    "errorRate": ("errors", numbers.rate, points),
    "p95Ms": ("P95", numbers.milliseconds, _moved(1, " ms")),
    "compositeScore": ("composite", numbers.score, _moved(4)),
    "latencyMs": ("latency", numbers.milliseconds, _moved(1, " ms")),
    "costUsd": ("cost", numbers.usd, _moved(4, " USD", most=12)),
    "tokens": ("tokens", numbers.count, _moved(0)),
    "steps": ("turns", _one_decimal, _moved(1)),
    "partialScore": ("partial", numbers.score, _moved(4)),
}
"""By metric: its name, how a value is shown, and how a difference. pp are percentage points."""


@dataclass(frozen=True, slots=True)
class ShownRow:
    """One figure as text. `mark` is ``✔ good`` or ``✘ bad``; it and the arrow are empty where no test says that it changed."""

    name: str
    before: str
    after: str
    delta: str
    arrow: str
    mark: str


def shown_row(row: DiffRow) -> ShownRow:
    """The row of one figure."""
    name, show, moved = _SHOWN[row.metric]
    delta = UNKNOWN if row.delta is None else moved(row.delta)
    if row.ratio is not None:
        delta = numbers.change(row.ratio)
    if not row.significant:
        return ShownRow(name, show(row.before), show(row.after), delta, "", "")
    return ShownRow(name, show(row.before), show(row.after), delta, row.arrow, "✔ good" if row.good else "✘ bad")


def verdict_text(skill: SkillDiff) -> str:
    """The verdict in a word, with a mark where it is one; ``added`` or ``removed`` where there is nothing to compare with."""
    if skill.verdict is None:
        return skill.change
    return {"better": "✔ better", "worse": "✘ worse"}.get(skill.verdict, skill.verdict)


def lineage(skill: SkillDiff) -> str:
    """``id@version``, and after it what it was before where that differs."""
    now, before = skill.skill_key, skill.before_key
    return now if skill.change != "compared" or before == now else f"{now} (before: {before})"


def statistics_lines(found: PairedStatistics, failing: NewlyFailing | None = None) -> list[tuple[str, str]]:
    """What the shared tasks say, as pairs of a name and a sentence; where none differs there is nothing to test."""
    exact = "exact" if found.test == "sign_flip_exact" else f"10,000 draws, seed {found.seed}"
    lines = [
        ("tasks compared", f"{found.tasks:,}: {found.tasks_better:,} better, {found.tasks_worse:,} worse"),
        ("mean difference", f"{points(found.mean_difference)}, {_interval(found.interval)}"),
        *_newly_failing(failing),
        *_fewer_passes(found),
    ]
    if found.tasks_better or found.tasks_worse:
        lines += [
            ("sign-flip test", f"{p_is(found.p_value)} ({exact}); Holm over the skills: {p_is(found.adjusted_p)}"),
            ("sign test", p_is(found.sign_test_p)),
            ("floor", _floor(found)),
            ("correlation", UNKNOWN if found.correlation is None else f"r = {found.correlation:z.2f} between both sides' tasks"),
            ("sensitivity", sensitivity(found)),
        ]
    if (missing := found.missing) is not None:
        count = plural(missing.before + missing.after, "item")
        bounds = f"the mean difference lies between {points(missing.lower)} and {points(missing.upper)}"
        lines.append(("without a verdict", f"{count} ({missing.before} before, {missing.after} after): {bounds}"))
    return lines


def _newly_failing(failing: NewlyFailing | None) -> Iterator[tuple[str, str]]:
    if failing is not None and failing.tasks:
        count, names = plural(len(failing.tasks), "task"), names_shown(failing.tasks, 3)
        chance = chance_text(failing.chance, 2)
        passed = f"passed in every run before and in none after: {names}; flaky tasks do so with a chance of {chance}"
        yield "newly failing", f"{count} {passed}"


def _fewer_passes(found: PairedStatistics) -> Iterator[tuple[str, str]]:
    if found.fewer_passes_p is not None and found.mean_difference < 0:
        yield "runs", f"if no task changed, so few would pass with a chance of {chance_text(found.fewer_passes_p, 2)}"


def sensitivity(found: PairedStatistics) -> str:
    """What this sample could have shown at all, and how many tasks would show as little as the equivalence margin."""
    if found.smallest_effect is None:
        return "what this sample could have shown is not known: the tasks' differences do not vary"
    text = f"this sample could only have shown ±{found.smallest_effect * 100:.1f} pp or more"
    if found.adjusted_p < SIGNIFICANCE and abs(found.mean_difference) < found.smallest_effect:  # it has shown a smaller one
        text = f"a sample like this finds ±{found.smallest_effect * 100:.1f} pp four times out of five, smaller ones less often"
    if found.smallest_effect > 1 and found.adjusted_p >= SIGNIFICANCE:
        text = "this sample could not have shown any difference: it is too small even for ±100 pp"
    if found.tasks_needed is None:
        return text
    return f"{text}; ±{found.equivalence_margin * 100:g} pp needs about {plural(found.tasks_needed, 'task')}"


def flips_shown(skill: SkillDiff, limit: int) -> tuple[list[Flip], int]:
    """The first `limit` tasks that moved, what got worse first, the largest moves first; and how many more there are."""
    order = sorted(skill.flips, key=lambda flip: (flip.change == "better", -_size(flip), natural_order(flip.task_id)))
    return order[:limit], max(0, len(order) - limit)


def side_text(side: FlipSide) -> str:
    """How one side of a flipped task went: the status of its run, or of which of its runs, and the share of these that passed."""
    if side.runs == 1:
        return side.status
    which = f"run {side.run_index + 1} of {side.runs}; " if side.runs else ""
    return f"{side.status} ({which}{numbers.rate(side.completion_rate)} passed)"


_WORST_FIRST = ("worse", "removed", "inconclusive", "equivalent", "better", "added")


def worst_first(skills: Iterable[SkillDiff]) -> list[SkillDiff]:
    """The skills by verdict, what got worse first, and within one by how much they lost."""
    return sorted(skills, key=lambda skill: (_WORST_FIRST.index(skill.verdict or skill.change), _mean(skill) or 0.0))


def counts_of_skills(skills: Sequence[SkillDiff]) -> str:
    """``4 skills: 1 better, 2 worse, 0 equivalent, 1 inconclusive``."""
    kinds = Counter[str](skill.verdict or skill.change for skill in skills)
    shown = [*JUDGEMENTS, *(name for name in ("added", "removed") if kinds[name])]
    return f"{plural(len(skills), 'skill')}: {', '.join(f'{kinds[name]:,} {name}' for name in shown)}"


def summary_of_skills(skills: Sequence[SkillDiff]) -> str:
    """The counts, and what was lost: ``…; the biggest loss: a@1.0.0, -35.0 pp``."""
    line = counts_of_skills(skills)
    losses = [(mean, skill) for skill in skills if (mean := _mean(skill)) is not None and mean < 0]
    if not losses:
        return line
    mean, skill = min(losses, key=lambda loss: loss[0])
    return f"{line}; the biggest loss: {lineage(skill)}, {points(mean)}"


def summary_of_tasks(skills: Iterable[SkillDiff]) -> str:
    """``tasks of all skills: 24 got worse, 1 got better, 3 equal, 2 not comparable``.

    What is not comparable is on one side only, was changed, or has no verdict on one side.
    """
    worse = better = equal = apart = 0
    for skill in skills:
        apart += sum(len(names) for _, names in tasks_apart(skill))
        if (found := skill.statistics) is not None:
            worse, better = worse + found.tasks_worse, better + found.tasks_better
            equal += found.tasks - found.tasks_worse - found.tasks_better
    return f"tasks of all skills: {worse:,} got worse, {better:,} got better, {equal:,} equal, {apart:,} not comparable"


def _mean(skill: SkillDiff) -> float | None:
    return None if skill.statistics is None else skill.statistics.mean_difference


def tasks_apart(skill: SkillDiff) -> list[tuple[str, list[str]]]:
    """The tasks that are not compared, by why they are not."""
    apart = [
        ("changed tasks, not compared", skill.tasks_changed),
        ("tasks judged otherwise than before, not compared", skill.tasks_judged_otherwise),
        ("tasks before only", skill.tasks_only_before),
        ("tasks after only", skill.tasks_only_after),
        ("tasks without a verdict on one side, not compared", skill.tasks_without_verdict),
    ]
    return [(why, names) for why, names in apart if names]


def names_shown(names: list[str], limit: int) -> str:
    """The first names, and how many more there are."""
    rest = len(names) - limit
    return ", ".join(names[:limit]) + (f" and {rest:,} more" if rest > 0 else "")


def _size(flip: Flip) -> float:
    return abs(flip.after.completion_rate - flip.before.completion_rate)


def _floor(found: PairedStatistics) -> str:
    differing = plural(found.tasks_better + found.tasks_worse, "differing task")
    if found.p_floor < LEAST_CHANCE:
        return f"{differing} can give a {p_is(found.p_floor)}"
    return f"{differing} can give no p below {found.p_floor:.4g}"


def _interval(interval: DifferenceInterval) -> str:
    return f"{100 * interval.level:.4g} % interval {points(interval.lower)} to {points(interval.upper)}"
