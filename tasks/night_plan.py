"""What a night will do: its suites, each with its past. Plain: no Prefect, and nothing is written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.store import Store, is_run_id, new_run_id
from eval_skills.tasks.night_past import SuitePast, past_of
from eval_skills.tasks.nightly_request import NightlyRequest
from eval_skills.tasks.places import check_places
from eval_skills.tasks.request import EvaluateRequest
from eval_skills.tasks.suites import Suite, load_suites


@dataclass(frozen=True, slots=True)
class NightPlan:
    """A night before it begins. `pasts` belong to `suites`, in their order."""

    night_id: str
    request: NightlyRequest
    store: Store
    suites: list[Suite]
    pasts: list[SuitePast]

    @property
    def baseline(self) -> str | None:
        """The baseline of the suites that name none."""
        return self.request.baseline

    def pinned(self) -> set[str]:
        """The runs that are somebody's baseline."""
        return {name for name in (self.baseline, *(suite.baseline for suite in self.suites)) if name and is_run_id(name)}

    def evaluation(self, suite: Suite) -> EvaluateRequest:
        """Tonight's run of the suite."""
        provenance = {"suite": suite.name, "night": self.night_id}
        return suite.request(self.request.options, store=self.store.path, provenance=provenance)

    def confirmation(self, suite: Suite, run_id: str, report: SkillCompletionReport, tasks: list[str]) -> EvaluateRequest:
        """Fresh runs of these tasks by one skill.

        The skill is the one of the run's manifest; where that lies on another machine, the skills of the suite are asked.
        """
        manifest = self.store.find_manifest(run_id)
        paths = [skill.path for skill in (manifest.skills if manifest else []) if skill.key == report.skill_key and skill.path]
        return suite.request(
            self.request.options,
            store=self.store.path,
            skills=paths or suite.skills,
            task_ids=tasks,
            runs=self.request.confirm_runs,
            format=[],
            origin="confirm",
            provenance={"suite": suite.name, "night": self.night_id, "of": run_id},
        )


def plan_night(request: NightlyRequest) -> NightPlan:
    """The plan of a night that begins now.

    Raises:
        UserError: the file of suites cannot be used, or the store cannot be written to. What is wrong with a single suite is
            found when it runs, and does not stop the others.
    """
    suites = load_suites(Path(request.suites))
    store = Store(request.store if "://" in request.store else str(Path(request.store).resolve()))
    check_places(EvaluateRequest(store=store.path))
    return NightPlan(new_run_id(), request, store, suites, [past_of(store, suite.name) for suite in suites])
