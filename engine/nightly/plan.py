"""The plan of a night: its suites, each with its history in the store (last good night, runs since, what regressed)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.nightly.evidence import LostEvidence
from eval_skills.core.store import Store, is_run_id, new_run_id
from eval_skills.engine.definition.request import EvaluateRequest, check_writable
from eval_skills.engine.nightly.request import NightlyRequest, Suite, load_suites


@dataclass(frozen=True, slots=True)
class NightPlan:
    """A night before it starts. `histories` are those of `suites`, in the same order."""

    night_id: str
    request: NightlyRequest
    store: Store
    suites: list[Suite]
    histories: list[SuiteHistory]

    @property
    def baseline(self) -> str | None:
        """The baseline of the suites that name none."""
        return self.request.baseline

    def pinned(self) -> set[str]:
        """The runs that are baselines."""
        return {name for name in (self.baseline, *(suite.baseline for suite in self.suites)) if name and is_run_id(name)}

    def evaluation(self, suite: Suite) -> EvaluateRequest:
        """Tonight's run of the suite."""
        provenance = {"suite": suite.name, "night": self.night_id}
        return suite.request(self.request.options, store=self.store.path, provenance=provenance)

    def confirmation(self, suite: Suite, run_id: str, report: SkillCompletionReport, tasks: list[str]) -> EvaluateRequest:
        """Fresh runs of these tasks by one skill.

        The skill is the one of the run's manifest; without a path there, it is one of the suite's skills.
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
    """The plan of a night that starts now; nothing is written.

    Raises:
        UserError: the file of suites cannot be used, or the store cannot be written to. An error in a single suite is found when
            it runs, and does not stop the others.
    """
    suites = load_suites(Path(request.suites))
    store = Store(request.store if "://" in request.store else str(Path(request.store).resolve()))
    check_writable(EvaluateRequest(store=store.path))
    return NightPlan(new_run_id(), request, store, suites, [suite_history(store, suite.name) for suite in suites])


GOOD_NIGHTS = 30
"""How many good nights are considered for the usual outcome of a task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteHistory:
    """The runs of a suite's good nights whose items are still stored, oldest first, at most `GOOD_NIGHTS`.

    `since` are the runs after the last of these, with fresh runs that were to confirm something. `lost` is by skill. `points`
    are the completion rates of every night by ``id@version``, oldest first.
    """

    good_runs: list[str] = field(default_factory=list)
    since: list[str] = field(default_factory=list)
    lost: dict[str, LostEvidence] = field(default_factory=dict)
    points: dict[str, list[tuple[str, float]]] = field(default_factory=dict)

    @property
    def last_good(self) -> str | None:
        """The run of the last good night."""
        return self.good_runs[-1] if self.good_runs else None

    def lost_by(self, report: SkillCompletionReport) -> LostEvidence | None:
        """What the skill lost in an earlier night, also if its version has changed since."""
        return self.lost.get(report.skill_key) or self.lost.get(report.skill_id)


def suite_history(store: Store, suite: str) -> SuiteHistory:
    """The suite's history, from the table of nights; empty for a suite that never ran."""
    rows = _rows(store, suite)
    landed = store.tables.files("items")
    good = list(dict.fromkeys(row["run_id"] for row in rows if row["good"] and row["run_id"] in landed))
    last = max((row["night_id"] for row in rows if good and row["run_id"] == good[-1]), default="")
    later = [row for row in rows if row["night_id"] > last]
    since = dict.fromkeys(run for row in later for run in (row["run_id"], row["confirm_run_id"]) if run)
    return SuiteHistory(good_runs=good[-GOOD_NIGHTS:], since=list(since), lost=_lost(rows), points=_points(rows))


def last_good_runs(store: Store) -> set[str]:
    """The runs that later nights need, of every suite in the store: its last good night, those since, and its baseline."""
    rows = _rows(store, None)
    needed: set[str] = set()
    for suite in {row["suite"] for row in rows}:
        history = suite_history(store, suite)
        needed |= {*history.good_runs[-1:], *history.since}
        needed |= {row["baseline"] for row in [row for row in rows if row["suite"] == suite][-1:] if row["baseline"]}
    return needed


def _rows(store: Store, suite: str | None) -> list[dict[str, Any]]:
    import pyarrow.dataset as ds

    condition = None if suite is None else ds.field("suite") == suite
    return list(store.tables.dataset("nights").to_table(filter=condition).sort_by("night_id").to_pylist())


def _lost(rows: Iterable[dict[str, Any]]) -> dict[str, LostEvidence]:
    lost: dict[str, LostEvidence] = {}
    for row in rows:
        if row["skill_id"] is None or row["verdict"] == "failed":
            continue
        for name in (f"{row['skill_id']}@{row['skill_version']}", row["skill_id"]):
            lost.pop(name, None)
            if row["verdict"] == "regressed":
                lost[name] = LostEvidence(
                    tasks=row["moved_tasks"],
                    expected_rate=row["expected_rate"],
                    observed_rate=row["observed_rate"],
                    since=row["since_night_id"],
                )
    return lost


def _points(rows: Iterable[dict[str, Any]]) -> dict[str, list[tuple[str, float]]]:
    points: dict[str, list[tuple[str, float]]] = {}
    for row in rows:
        if row["completion_rate"] is not None and row["verdict"] != "failed":
            points.setdefault(f"{row['skill_id']}@{row['skill_version']}", []).append((row["night_id"], row["completion_rate"]))
    return points
