"""The result of a night, as its flow returns it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from eval_skills.core.diff.diff import at_lower
from eval_skills.core.diff.gate import not_proven
from eval_skills.core.errors import RunError
from eval_skills.core.metrics.tasks import count_tallies
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.nightly.evidence import BAD, Against, Classification, NightVerdict
from eval_skills.core.skill_effect.gate import FailOn, gate_failures
from eval_skills.core.skill_effect.model import SkillEffect
from eval_skills.core.store import Pruned
from eval_skills.core.store.effects import EffectPoint
from eval_skills.core.text import plural
from eval_skills.engine.nightly.history import LastNight, SuiteHistory
from eval_skills.reporting.diff.report import DiffDocument

SHOWN: tuple[NightVerdict, ...] = ("regressed", "suspect", "flaky", "recovered", "better")
"""The verdicts that the summary counts, worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillOutcome:
    """A skill of a suite in the night: its report, the verdict, what it was compared with, and the run that confirmed it.

    `last_good` is the run of its last good night before; `judge` names the models that judged it.
    """

    report: SkillCompletionReport
    classification: Classification
    against: Sequence[Against] = ()
    confirm_run_id: str | None = None
    last_good: str | None = None
    judge: str | None = None

    @property
    def good(self) -> bool:
        """Whether later nights may be compared with this one."""
        return self.classification.verdict not in BAD

    def unproven(self, margin: float) -> str | None:
        """Why it is not proven that it lost less than `margin` of its completion rate, in a sentence; None where it is.

        Against its pinned baseline, else against its good nights; with items without a verdict taken as failed.
        """
        by_rule = {each.rule: each for each in self.against}
        found = by_rule.get("baseline") or by_rule.get("good nights")
        if found is None or found.statistics is None:
            return f"{self.report.skill_key}: not proven that it lost less than {margin:g}: there is nothing to compare with"
        reason = not_proven(at_lower(found.statistics), margin)
        return reason and f"{self.report.skill_key}, against {found.name}: {reason}"

    @property
    def forbidden_items(self) -> int:
        """The number of items in which it called a forbidden tool."""
        return self.report.summary.forbidden_items or 0

    @property
    def gate_failures(self) -> list[str]:
        """What the night's gate does not let pass, a predicate each."""
        unknown, found = self.report.summary.forbidden_unknown_items, self.classification
        calls = {"called forbidden tools": self.forbidden_items, "may have called forbidden tools": unknown}
        verdicts = {"regressed": found.verdict == "regressed", "could not be judged": found.left_open}
        return [reason for reason, holds in {**calls, **verdicts}.items() if holds]


@dataclass(frozen=True, slots=True, kw_only=True)
class NightEffect:
    """What an Agent Skill changes tonight, what fails the gate, and the differences of the nights before, oldest first."""

    effect: SkillEffect
    fail_on: FailOn
    past: Sequence[EffectPoint] = ()

    @property
    def failures(self) -> list[str]:
        """Why the gate fails, without errors of the set-up: these are failures of the suite."""
        return gate_failures(self.effect.model_copy(update={"problems": []}), self.fail_on)

    def to_json(self) -> dict[str, Any]:
        """The effect as JSON-ready data, with its gate and the earlier nights."""
        gate = {"failOn": self.fail_on, "failures": self.failures}
        return {**self.effect.to_json(), "gate": gate, "nights": [point.to_json() for point in self.past]}


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOutcome:
    """A suite in the night. `failures` say what could not run; `run_id` is None where nothing ran. `remarks` fail nothing.

    `gone` are the skills of its last night that are not in it tonight. `effect` is what an Agent Skill changes, where the suite
    asks that and it is known.
    """

    name: str
    run_id: str | None
    benchmark_id: str | None = None
    skills: list[SkillOutcome] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    diffs: list[DiffDocument] = field(default_factory=list)
    baseline: str | None = None
    gone: list[LastNight] = field(default_factory=list)
    effect: NightEffect | None = None

    @property
    def good(self) -> bool:
        """Whether nothing failed or is gone, and later nights may be compared with this one in every skill."""
        return bool(self.run_id) and not self.failures and not self.gone and all(skill.good for skill in self.skills)

    @property
    def last_good(self) -> str | None:
        """The latest run in which one of its skills had a good night before."""
        return max((skill.last_good for skill in self.skills if skill.last_good), default=None)

    @property
    def gate_failures(self) -> list[str]:
        """Why the night's gate does not pass, as far as it is this suite's fault, a phrase each."""
        skills = [f"{skill.report.skill_key} {reason}" for skill in self.skills for reason in skill.gate_failures]
        gone = [f"{last.skill_key} is gone" for last in self.gone]
        effect = self.effect.failures if self.effect is not None else []
        return [*(f"run failed: {failure}" for failure in self.failures), *skills, *gone, *(f"effect: {each}" for each in effect)]

    def points_up_to(self, night_id: str, history: SuiteHistory) -> dict[str, list[tuple[str, float]]]:
        """The completion rates of its skills in the nights of its `history` and in this one, by ``id@version``, oldest first.

        A night in which a rate is unknown is left out, and so are skills that failed tonight.
        """
        found: dict[str, list[tuple[str, float]]] = {}
        for skill in self.skills:
            nights = list(history.points.get(skill.report.skill_key, []))
            if (rate := skill.report.summary.known_completion) is not None:
                nights.append((night_id, rate))
            if nights and skill.classification.verdict != "failed":
                found[skill.report.skill_key] = nights
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class NightSummary:
    """The result of one night.

    `flow_runs` and `task_runs` are what Prefect should have recorded; `unrecorded` is why it could not, None where it did.
    """

    night_id: str
    store: str
    suites: list[SuiteOutcome]
    pruned: Pruned | None = None
    flow_runs: tuple[str, ...] = ()
    task_runs: int = 0
    unrecorded: str | None = None

    @property
    def failed(self) -> list[SuiteOutcome]:
        """The suites in which something could not run."""
        return [suite for suite in self.suites if suite.failures]

    @property
    def counts(self) -> Counter[NightVerdict]:
        """How many skills got each verdict."""
        return Counter(skill.classification.verdict for suite in self.suites for skill in suite.skills)

    @property
    def nothing_ran(self) -> bool:
        """Whether not one suite could run."""
        return all(not _ran(suite) for suite in self.suites)

    @property
    def with_forbidden_calls(self) -> list[SkillOutcome]:
        """The skills that called forbidden tools, whatever their completion rate and their history."""
        return [skill for suite in self.suites for skill in suite.skills if skill.forbidden_items]

    @property
    def with_unknown_calls(self) -> list[SkillOutcome]:
        """The skills of which it is not known in every item whether they called a forbidden tool."""
        return [skill for suite in self.suites for skill in suite.skills if skill.report.summary.forbidden_unknown_items]

    @property
    def left_open(self) -> list[SkillOutcome]:
        """The skills that could not be judged, for items without a verdict or changed tasks: they may have got worse."""
        return [skill for suite in self.suites for skill in suite.skills if skill.classification.left_open]

    @property
    def gone(self) -> list[LastNight]:
        """The skills that suites had in their last night and do not have tonight."""
        return [skill for suite in self.suites for skill in suite.gone]

    @property
    def effect_failures(self) -> dict[str, list[str]]:
        """By suite why the gate of its effect fails, a sentence each; without those that pass."""
        effects = {suite.name: suite.effect.failures for suite in self.suites if suite.effect is not None}
        return {name: failures for name, failures in effects.items() if failures}

    @property
    def without_verdict(self) -> int:
        """The number of items without a verdict, those of skills that could not be reached included."""
        reports = [skill.report for suite in self.suites for skill in suite.skills]
        return sum(map(_without_verdict, reports))

    def unproven(self, margin: float) -> list[str]:
        """Of which skills it is not proven that they lost less than `margin`, a sentence each; see `SkillOutcome.unproven`."""
        outcomes = [skill.unproven(margin) for suite in self.suites for skill in suite.skills]
        return [reason for reason in outcomes if reason]

    @property
    def gate_failures(self) -> list[str]:
        """Why the gate does not pass, each with its suite: a skill regressed, is known or may be feared to have called a
        forbidden tool, could not be judged or is gone, a run failed, or the gate of an effect does not pass. Empty: it passes.
        """
        return [f"{suite.name}: {reason}" for suite in self.suites for reason in suite.gate_failures]

    @property
    def gate_passed(self) -> bool:
        """Whether there are no `gate_failures`."""
        return not self.gate_failures

    @property
    def line(self) -> str:
        """The night in one line, worst news first; the message of the flow run's state."""
        skills = sum(len(suite.skills) for suite in self.suites)
        ran = sum(_ran(suite) for suite in self.suites)
        news = [f"run failed in {', '.join(suite.name for suite in self.failed)}"] if self.failed else []
        news += [f"{len(self.with_forbidden_calls)} called forbidden tools"] if self.with_forbidden_calls else []
        news += [f"{len(self.with_unknown_calls)} may have called forbidden tools"] if self.with_unknown_calls else []
        news += [f"{len(self.left_open)} could not be judged"] if self.left_open else []
        news += [f"{len(self.gone)} gone"] if self.gone else []
        news += [f"effect in {name}: {' and '.join(reasons)}" for name, reasons in self.effect_failures.items()]
        counts = self.counts - Counter(skill.classification.verdict for skill in self.left_open)  # each skill once
        news += [f"{count} {verdict}" for verdict in SHOWN if (count := counts[verdict])]
        head = f"{ran} of {plural(len(self.suites), 'suite')} ran, {plural(skills, 'skill')}"
        quiet = "nothing to compare with yet" if set(self.counts) <= {"new"} else "no news"
        lost = f"; {plural(self.without_verdict, 'item')} without a verdict" if self.without_verdict else ""
        return f"{head}: {', '.join(news) or quiet}{lost}"

    def to_json(self) -> dict[str, Any]:
        """The night as JSON-ready data."""
        return {
            "nightId": self.night_id,
            "summary": self.line,
            "store": self.store,
            "suites": [_suite_json(suite) for suite in self.suites],
            "pruned": None if self.pruned is None else {"runs": self.pruned.run_ids, "bytes": self.pruned.size},
        }


def gone_explanation(last: LastNight) -> str:
    """What is known of a skill that a suite does not have any more, and what to do."""
    seen = f"evaluated in night {last.night_id} (run {last.run_id}), and not among the suite's skills now"
    return f"{seen}; put it back, or name {last.skill_id} under retired in the file of suites"


class NoSuiteRan(RunError):
    """No suite of the night could run; `summary` is the night as it was recorded."""

    def __init__(self, summary: NightSummary) -> None:
        super().__init__(f"no suite could run: {summary.suites[0].failures[0]}")
        self.summary = summary


def _ran(suite: SuiteOutcome) -> bool:
    return any(skill.classification.verdict != "failed" for skill in suite.skills)


def _suite_json(suite: SuiteOutcome) -> dict[str, Any]:
    return {
        "suite": suite.name,
        "runId": suite.run_id,
        "benchmark": suite.benchmark_id,
        "good": suite.good,
        "failures": suite.failures,
        "remarks": suite.remarks,
        "lastGood": suite.last_good,
        "baseline": suite.baseline,
        "skills": [_skill_json(skill) for skill in suite.skills],
        "gone": [{"skill": last.skill_key, "night": last.night_id, "run": last.run_id} for last in suite.gone],
        "effect": suite.effect and suite.effect.to_json(),
    }


def _without_verdict(report: SkillCompletionReport) -> int:
    if not report.task_results:  # as of a large run, whose reports list no items
        return report.summary.missing_items or 0
    return sum(tally.missing for tally in count_tallies(report.task_results).values())


def _skill_json(skill: SkillOutcome) -> dict[str, Any]:
    lost = skill.classification.lost
    return {
        "skill": skill.report.skill_key,
        "completionRate": skill.report.summary.known_completion,
        "forbiddenItems": skill.forbidden_items,
        "verdict": skill.classification.verdict,
        "good": skill.good,
        "lastGood": skill.last_good,
        "rule": skill.classification.rule,
        "began": skill.classification.began,
        "changed": skill.classification.changed,
        "explanation": skill.classification.explanation,
        "tasks": skill.classification.tasks,
        "since": lost.since if lost else None,
        "confirmRunId": skill.confirm_run_id,
    }
