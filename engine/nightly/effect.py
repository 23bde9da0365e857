"""What an Agent Skill changes, as a night sees it: the arm ``with`` is the skill that is watched, the others are its measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eval_skills.core.errors import UserError
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.skill_effect.model import SkillEffect
from eval_skills.core.store import Store
from eval_skills.engine.nightly.evidence import SuiteRun, suite_run
from eval_skills.engine.nightly.history import SuiteHistory
from eval_skills.engine.nightly.request import Suite
from eval_skills.engine.nightly.summary import NightEffect
from eval_skills.engine.skill_effect.experiment import experiment_of, stored_effect


def effect_run(
    store: Store, suite: Suite, run_id: str, reports: Sequence[SkillCompletionReport], failures: Sequence[str]
) -> SuiteRun:
    """The run of such a suite. An arm that could not be reached, and an error of the set-up, are failures of the suite."""
    try:
        measured = experiment_of(store, run_id).arms["with"]
        effect, remarks = stored_effect(store.path, run_id)
    except UserError as error:
        return SuiteRun(suite=suite, run_id=run_id, failures=[*failures, f"the effect is unknown: {error}"])
    watched = suite_run(suite, run_id, [report for report in reports if report.skill_key == measured], failures)
    others = suite_run(suite, run_id, [report for report in reports if report.skill_key != measured])
    known = effect.model_copy(update={"remarks": [*effect.remarks, *remarks]})
    return replace(watched, failures=[*watched.failures, *others.failures, *setup_errors(effect)], effect=known)


def setup_errors(effect: SkillEffect) -> list[str]:
    """The failures of a suite whose arms do not differ as they should."""
    return [f"set-up error: {problem}" for problem in effect.problems]


def night_effect(run: SuiteRun, history: SuiteHistory) -> NightEffect | None:
    """Tonight's effect with those of the nights before; None where it is not asked, or unknown."""
    if run.effect is None or run.suite.skill_effect is None:
        return None
    return NightEffect(effect=run.effect, fail_on=run.suite.skill_effect.fail_on, past=history.effects)
