"""Two stored runs or reports compared: the verdicts on their skills, and what has to be said beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from eval_skills.core.diff.diff import diff_reports
from eval_skills.core.diff.gate import NON_INFERIORITY_MARGIN, FailOn, forbidden_failures, gate_failures
from eval_skills.core.diff.model import MissingRule
from eval_skills.core.diff.until import at_last_looks
from eval_skills.core.errors import UsageError
from eval_skills.core.statistics.planning import gate_rate
from eval_skills.core.text import percents_apart
from eval_skills.engine.planning.plan import FLAKINESS, sample_of_reports
from eval_skills.reporting.diff.report import DiffDocument, GateRates

if TYPE_CHECKING:
    from eval_skills.core.diff.model import ReportDiff
    from eval_skills.core.models import SkillCompletionReport
    from eval_skills.engine.stored_runs.reports import ReportSource

MOST_TASKS_SIMULATED = 300


def compared(
    old: ReportSource,
    new: ReportSource,
    *,
    labels: tuple[str | None, str | None] = (None, None),
    fail_on: FailOn | None = None,
    margin: float | None = None,
    mapping: Mapping[str, str] | None = None,
    min_effect: float = 0.0,
    missing: MissingRule = "bounds",
) -> DiffDocument:
    """The comparison of `old` with `new`, ready to be shown.

    `labels` are what the sides are called, by default as they were named. `fail_on` sets a gate, of which `margin` (a share; None
    is 0.03) is what ``not-proven`` tolerates. The others are those of `diff_reports`.

    Raises:
        UsageError: both sides are of one run, and a gate is to judge it: beside itself nothing is worse.
    """
    baseline = str(old.file.resolve()) if old.file else old.name
    found = diff_reports(old.reports, new.reports, mapping=mapping or {}, min_effect=min_effect, missing=missing)
    itself = None if any(skill.is_beside_another for skill in found.skills) else _itself(old, new)
    if itself and fail_on is not None:
        raise UsageError(f"--fail-on {fail_on} cannot judge that: {itself}; name two runs, or --map old=new skills of one")
    looks = [decision for decision in new.decisions if decision.against == baseline]
    found = at_last_looks(found, old.reports, new.reports, looks)
    tolerated = NON_INFERIORITY_MARGIN if margin is None else margin
    compared = any(skill.statistics for skill in found.skills)
    rates = _gate_rates(old.reports) if fail_on == "worse" and not min_effect and compared else None
    proven = f"every skill is proven to have lost less than {percents_apart(tolerated)[0]} %"
    words = proven if fail_on == "not-proven" else "no skill is worse"
    remarks = [*filter(None, [itself]), *old.remarks, *new.remarks]
    known = [side.unfinished for side in (old, new) if side.unfinished] + forbidden_failures(new.reports)
    return DiffDocument(
        diff=found,
        before=labels[0] or old.name,
        after=labels[1] or new.name,
        failures=None if fail_on is None else [*known, *gate_failures(found, fail_on, margin=tolerated)],
        gate_words=f"{words} on the tasks of both sides; {found.not_compared}" if found.not_compared else words,
        gate_rates=rates,
        remarks=list(dict.fromkeys([*remarks, *_how_to_compare(found, old, new), *_grown(new, len(looks))])),
        before_made_by=old.made_by,
        after_made_by=new.made_by,
    )


def _itself(old: ReportSource, new: ReportSource) -> str | None:
    """In a sentence, that a run is beside itself; None where it is not, as far as is known."""
    if old.file and new.file and old.file.samefile(new.file):
        return f"both sides are {new.name}"
    if old.run_id is not None and old.run_id == new.run_id:
        return f"both sides are of run {new.run_id}"
    return None


def _how_to_compare(found: ReportDiff, old: ReportSource, new: ReportSource) -> list[str]:
    """How to compare answers to tasks that all changed: by scoring both with the same tasks, and the same judge."""
    if not any(skill.statistics is None and skill.tasks_incomparable for skill in found.skills):
        return []
    run = "RUN" if old.file else old.name
    judge = new.made_by.get("judge")
    other = judge is not None and judge != old.made_by.get("judge")
    same = f", and with --judge-model and llm of the later side by its judge, {judge}" if other else ""
    return [
        f"every task, or what judges it, changed: eval-skills rescore {run} scores the earlier answers by today's tasks{same}; "
        "compare that run"
    ]


def _grown(new: ReportSource, looks: int) -> list[str]:
    """That the later side has as many runs as a decision took, and what that means here."""
    if not new.decisions:
        return []
    named = f"{new.name} was added to until decided against {new.decisions[0].against}"
    if looks:
        levels = ", ".join(f"{each.skill} p ≤ {each.level:.2g}" for each in new.decisions)
        return [f"{named}: its verdicts are those of its last looks ({levels})"]
    return [f"{named}, not this: so many runs, and no more, may favour what was found there"]


def _gate_rates(reports: Sequence[SkillCompletionReport]) -> GateRates | None:
    """How often the gate is wrong on tasks like those of the earlier side; None where they are too many to simulate at once."""
    sample = sample_of_reports(reports)
    if sample is None or len(sample.together.items) > MOST_TASKS_SIMULATED:
        return None
    alarms, found = (gate_rate(sample.skills, effect, flakiness=FLAKINESS, draws=200) for effect in (0.0, 0.10))
    return GateRates(alarms, found)
