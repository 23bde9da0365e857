"""The plan of a night: its suites with their histories, and what is asked of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from eval_skills.core.documents.loading import validate
from eval_skills.core.errors import UsageError
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.store import Store, is_run_id, new_run_id
from eval_skills.engine.definition.request import EvaluateRequest, check_writable
from eval_skills.engine.nightly.history import SuiteHistory, suite_history
from eval_skills.engine.nightly.interruption import (
    ASKED,
    FLOW_RUN,
    BegunRuns,
    SuitesAsked,
    asked_of_night,
    begun_runs,
    has_begun,
    interrupted_night,
    night_begun_by,
)
from eval_skills.engine.nightly.request import NightlyRequest, Suite, load_suites
from eval_skills.engine.skill_effect.experiment import arms_folder
from eval_skills.engine.stored_runs.run_ids import LATEST, named_run, names_run
from eval_skills.reporting.stopping import resume_night_words


@dataclass(frozen=True, slots=True)
class NightPlan:
    """A night before it starts. `histories` are those of `suites`, in the same order; `begun` are its runs if it is resumed.

    `flow_run_id` is Prefect's flow run of the night; None without one.
    """

    night_id: str
    request: NightlyRequest
    store: Store
    suites: list[Suite]
    histories: list[SuiteHistory]
    begun: BegunRuns = field(default_factory=BegunRuns)
    flow_run_id: str | None = None

    @property
    def baseline(self) -> str | None:
        """The baseline of the suites that name none."""
        return self.request.baseline

    def pinned(self) -> set[str]:
        """The runs that are baselines."""
        return {name for name in (self.baseline, *(suite.baseline for suite in self.suites)) if name and is_run_id(name)}

    def evaluation(self, suite: Suite) -> EvaluateRequest:
        """Tonight's run of the suite, or the rest of the one that has begun; of an effect, its arms are written.

        Raises:
            UserError: an effect has no tasks, or what it names is not there.
        """
        resumed = resuming(self.begun.suites.get(suite.name))
        about = resumed or {"provenance": self._provenance(suite)}
        request = suite.request(self.request.options, store=self.store.path, **about)
        if suite.skill_effect is None or resumed:
            return request
        with arms_folder(self.store.path) as root:
            return suite.skill_effect.experiment(request, root)[0]

    def confirmation(self, suite: Suite, run_id: str, report: SkillCompletionReport, tasks: list[str]) -> EvaluateRequest:
        """Fresh runs of these tasks by one skill.

        The skill is the one of the run's manifest; without a path there, it is one of the suite's skills.
        """
        manifest = self.store.find_manifest(run_id)
        paths = [skill.path for skill in (manifest.skills if manifest else []) if skill.key == report.skill_key and skill.path]
        tasks_of = {"tasks": manifest.request.get("tasks")} if manifest and suite.skill_effect else {}
        return suite.request(
            self.request.options,
            **(
                resuming(self.begun.confirmations.get((run_id, report.skill_key, tuple(tasks))))
                or {"provenance": self._provenance(suite) | {"of": run_id}}
            ),
            **tasks_of,
            store=self.store.path,
            skills=paths or suite.skills,
            task_ids=tasks,
            runs=self.request.confirm_runs,
            format=[],
            origin="confirm",
        )

    def going_on(self) -> str | None:
        """How the night goes on if it ends now; None where it has begun no run, and so there is nothing to go on with."""
        if not has_begun(self.store, self.night_id):
            return None
        command = resume_night_words(self.night_id, self.file, self.store.path)
        return f"what is there is kept, so continue with: {command}"

    @property
    def file(self) -> str:
        """The whole path of the file of suites, as the runs of its nights have it."""
        return str(Path(self.request.suites).resolve())

    def _provenance(self, suite: Suite) -> dict[str, Any]:
        of_a_flow_run = {} if self.flow_run_id is None else {FLOW_RUN: self.flow_run_id}
        said = self.request.model_fields_set & _KEPT
        asked = {**self.request.provenance, **self.request.model_dump(mode="json", by_alias=True, include=said)}
        of_the_caller = {ASKED: asked} if asked else {}
        return {"suite": suite.name, "suites": self.file, "night": self.night_id, **of_a_flow_run, **of_the_caller}


_KEPT = {"baseline", "confirm_runs", "keep_days"}
"""Options of a night that a resume keeps."""


def _as_begun(request: NightlyRequest, asked: Mapping[str, Any]) -> NightlyRequest:
    """The request of a resumed night, of which this was `asked` when it began, and still is where the call does not say it."""
    keys = {NightlyRequest.model_fields[name].alias or name for name in _KEPT}
    kept = validate(NightlyRequest, {"suites": request.suites, **{key: asked[key] for key in keys & asked.keys()}})
    unsaid = (kept.model_fields_set & _KEPT) - request.model_fields_set
    provenance = {**{key: value for key, value in asked.items() if key not in keys}, **request.provenance}
    return request.model_copy(update={**{name: getattr(kept, name) for name in unsaid}, "provenance": provenance})


def resuming(run_id: str | None) -> dict[str, Any]:
    """The option of a request that takes up this run, whose manifest says the rest; none where there is none."""
    return {} if run_id is None else {"resume": run_id}


def plan_night(request: NightlyRequest, flow_run_id: str | None = None, since: datetime | None = None) -> NightPlan:
    """The plan of a night that starts now, or of the rest of one that was interrupted; nothing is written.

    The rest is planned, too, of a night that the flow run `flow_run_id`, made after `since`, began in an earlier process.

    Raises:
        UserError: the file of suites cannot be used, a baseline is a run of this night itself, or the store cannot be written to.
            An error in a single suite is found when it runs, and does not stop the others.
    """
    store = Store(request.store if "://" in request.store else str(Path(request.store).resolve()))
    if request.baseline is not None:
        request = request.model_copy(update={"baseline": _whole_id(store, request.baseline)})
    suites = [
        suite.model_copy(update={"baseline": _whole_id(store, suite.baseline)}) for suite in load_suites(Path(request.suites))
    ]
    check_writable(EvaluateRequest(store=store.path))
    resumed: str | None = None
    if request.resume:
        asked = SuitesAsked(str(Path(request.suites).resolve()), {suite.name for suite in suites})
        resumed = interrupted_night(store, request.resume, asked)
    elif flow_run_id is not None and since is not None:
        resumed = night_begun_by(flow_run_id, store, since)
    if resumed is not None:
        request = _as_begun(request, asked_of_night(store, resumed))
    night_id = resumed or new_run_id()
    begun = BegunRuns() if resumed is None else begun_runs(store, resumed)
    for baseline in (request.baseline, *(suite.baseline for suite in suites)):
        if baseline in {*begun.suites.values(), *begun.confirmations.values()}:
            raise UsageError(f"baseline {baseline} is a run of night {night_id} itself; {_OTHER_BASELINE}")
    histories = [suite_history(store, suite.name, before=night_id, begins=resumed is None) for suite in suites]
    return NightPlan(night_id, request, store, suites, histories, begun, flow_run_id)


_OTHER_BASELINE = (
    "name an earlier run by its id, or a JSON report (without a baseline the skills are compared with their good nights)"
)


def _whole_id(store: Store, baseline: str | None) -> str | None:
    """The baseline, by its whole id where it is the beginning of a run's: what is compared with stays what it is.

    Raises:
        UsageError: it is ``latest``, which by the time of the comparison is a run of the night itself; or no run begins like it.
    """
    if baseline == LATEST:
        raise UsageError(f"baseline latest: the latest run is one of the night's own; {_OTHER_BASELINE}")
    is_beginning = baseline is not None and names_run(baseline) and not is_run_id(baseline)
    return named_run(store, baseline) if baseline is not None and is_beginning else baseline
