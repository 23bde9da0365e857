"""A comparison that grew until it was decided, looked at after each further run of its tasks."""

from __future__ import annotations

from collections.abc import Sequence

from eval_skills.core.diff.diff import diff_reports
from eval_skills.core.diff.model import Judgement, ReportDiff, SkillDiff
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.models.base import Model, Rate
from eval_skills.core.statistics.sequential import information, look_levels
from eval_skills.core.text import plural

DECISIONS = "decisions"
"""Where the provenance of a run that grew until it was decided holds its last looks."""

SPENT = 0.0425
"""What all looks together may spend of the 5 %: the mid-p of their test exceeds its level by up to a fifth in small samples."""

_LEAST_LEVEL = 1e-9


class Decision(Model):
    """The last look at one skill: what it said of the comparison with `against`, after `runs` of at most `max_runs` runs.

    It decides at p ≤ `level`, which is so small that all looks together are as seldom wrong as one at the significance.
    """

    skill: str
    against: str
    verdict: Judgement
    explanation: str
    runs: int
    max_runs: int
    level: Rate

    @property
    def is_decided(self) -> bool:
        """Whether no further run is needed."""
        return self.verdict != "inconclusive"

    @property
    def line(self) -> str:
        """In words."""
        of = f"of at most {plural(self.max_runs, 'run')}"
        if not self.is_decided:
            return f"{self.skill}: not decided after {self.runs} {of} against {self.against}: {self.explanation}"
        verdict = f"equivalent to {self.against}" if self.verdict == "equivalent" else f"{self.verdict} than {self.against}"
        early = "stopped early" if self.runs < self.max_runs else "decided"
        boundary = f"this look decides at p ≤ {self.level:.2g}, on an O'Brien-Fleming boundary by Lan and DeMets"
        return f"{self.skill}: {verdict}, {early} after {self.runs} {of}: {self.explanation}; {boundary}"


def levels_of_looks(first: int, most: int, runs_before: float, skills: int) -> dict[int, float]:
    """The p at which the look after so many runs decides, from the `first` to the one after `most` runs, of each of `skills`.

    Every skill gets an equal part of what may be spent, since they stop at different times (Bonferroni).
    """
    looks = range(first, most + 1)
    fractions = [information(runs, most, runs_before) for runs in looks]
    return dict(zip(looks, look_levels(fractions, significance=SPENT / skills), strict=True))


def decide(
    before: SkillCompletionReport, after: SkillCompletionReport, *, against: str, most: int, runs: int, level: float
) -> Decision:
    """What the look after `runs` runs says of one skill.

    The verdict is that of `diff_reports` at this look's level: of the test, and of the interval for equivalence.
    """
    (found,) = diff_reports([before], [after], significance=max(level, _LEAST_LEVEL)).skills
    return Decision(
        skill=after.skill_key,
        against=against,
        verdict=found.verdict or "inconclusive",
        explanation=found.explanation,
        runs=runs,
        max_runs=most,
        level=level,
    )


def at_last_looks(
    diff: ReportDiff,
    before: Sequence[SkillCompletionReport],
    after: Sequence[SkillCompletionReport],
    decisions: Sequence[Decision],
) -> ReportDiff:
    """The comparison of a run with what it grew against: each skill that was looked at is judged at the level of its last look.

    So it says what that look said; at the usual level it would find too much, having been looked at before.
    """
    levels = {decision.skill: max(decision.level, _LEAST_LEVEL) for decision in decisions}
    news = {report.skill_key: report for report in after}

    def looked_at(skill: SkillDiff) -> SkillDiff:
        key = skill.skill_key
        if key not in levels or skill.change != "compared":
            return skill
        earlier = (skill.before_skill_id, skill.before_version, skill.benchmark_id)
        old = next(each for each in before if (each.skill_id, each.skill_version, each.benchmark_id) == earlier)
        own = diff_reports(
            [old],
            [news[key]],
            mapping={old.skill_id: news[key].skill_id},
            significance=levels[key],
            equivalence_margin=diff.equivalence_margin,
            min_effect=diff.min_effect,
            missing=diff.missing,
        )
        return own.skills[0]

    return diff.model_copy(update={"skills": [looked_at(skill) for skill in diff.skills]})
