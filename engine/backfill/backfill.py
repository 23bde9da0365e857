"""A backfill in progress: the runs of one period are made, compared with the period before, and landed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Self

from eval_skills.core.config.values import RunLimits
from eval_skills.core.errors import InputError, RunError, UserError
from eval_skills.core.models import ItemResult, SkillCompletionReport
from eval_skills.core.store import Store, results_of
from eval_skills.core.store.files import RunLock, once_free
from eval_skills.engine.backfill.comparison import Key, PeriodOutcome, PeriodResult, comparison_rows, land_period, latest_results
from eval_skills.engine.backfill.periods import PeriodWork
from eval_skills.engine.backfill.plan import BackfillPlan, plan_backfill
from eval_skills.engine.backfill.recompute import land_if_changed, run_reports
from eval_skills.engine.backfill.request import BackfillRequest
from eval_skills.engine.backfill.sources import Source
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.definition.revisions import Repository, remove_leftovers
from eval_skills.engine.definition.scoring import judges_of
from eval_skills.engine.evaluation.plan import make_plan
from eval_skills.engine.evaluation.summary import RunSummary
from eval_skills.engine.judging.outcome import unjudged
from eval_skills.engine.rescoring.plan import find_scored, plan_rescoring
from eval_skills.engine.rescoring.request import ScoringOptions
from eval_skills.engine.rescoring.rescore import NothingJudged, rescore, scoring_lock
from eval_skills.scorers.judging.budget import Budget

WORKTREES = "worktrees"

Evaluate = Callable[[EvaluateRequest], RunSummary]


class BackfillSession:
    """An open backfill. `evaluate` evaluates the revisions of a replay."""

    def __init__(self, plan: BackfillPlan, evaluate: Evaluate) -> None:
        self.plan = plan
        self._store, self._request, self._evaluate = plan.store, plan.request, evaluate
        self._known: dict[str, dict[Key, PeriodResult]] = {}
        self._anew: set[str] = set()
        self._outcomes: dict[str, PeriodOutcome] = {}
        self._budget = Budget(self._request.max_judge_cost)

    @classmethod
    @contextmanager
    def begin(cls, request: BackfillRequest, evaluate: Evaluate) -> Iterator[Self]:
        """The backfill of a request, with a lock on the store; checkouts that a killed one left behind are removed.

        Raises:
            UserError: the request cannot be carried out, or another backfill works on this store.
        """
        plan_backfill(request)  # a wrong request leaves no trace in the store
        store = Store(request.store)
        with RunLock(store.layout.root / "backfill.jsonl", what=f"the store {store.path}"):
            remove_leftovers(store.layout.root / WORKTREES)
            yield cls(plan_backfill(request), evaluate)

    def pending(self) -> Iterator[PeriodWork]:
        """The periods to work on, each when the one before has been carried out.

        Where a repeated period has other figures now, later periods that are compared with it are done again.
        """
        filled: set[tuple[str, str]] = set()
        for work in self.plan.works:
            if filled or self.plan.is_pending(work):
                yield work
                lines = {result.line for result in self._known.get(work.digest, {}).values()}
                filled = filled | lines if work.is_repeated and work.digest in self._anew else filled - lines

    def carry_out(self, work: PeriodWork) -> PeriodOutcome:
        """Make the runs of one period and land its comparisons; the period is up to date from then on, and carried out once.

        Raises:
            RunError: an evaluation could not finish; the next call of the backfill resumes it.
        """
        if work.digest not in self._outcomes:
            self._outcomes[work.digest] = self._carried_out(work)
        return self._outcomes[work.digest]

    def _carried_out(self, work: PeriodWork) -> PeriodOutcome:
        self._store.refresh()  # what another machine has made since is not made again
        place = self.plan.works.index(work)
        found: list[tuple[str, Sequence[SkillCompletionReport]]] = []
        remarks: list[str] = []
        unusable: list[str] = []
        runs: list[RunSummary] = []
        failed: list[ItemResult] = []
        for source in work.sources:
            try:
                run_id = self._made(source, work, remarks, runs, failed)
            except NothingJudged as error:  # the judge may work for the next source
                unusable.append(str(error).partition(";")[0])
                if (before := self._scored_before(source)) is None:
                    failed += error.failed
                    continue
                run_id = before
                failed += self._unjudged(before)
            except UserError as error:
                unusable.append(str(error))
                if (before := self._scored_before(source)) is None:
                    continue
                run_id = before
                failed += self._unjudged(before)
            found.append((run_id, self._reports(run_id)))
        now = self._known[work.digest] = latest_results(found)
        rows = comparison_rows(self._before(now, place), now) if now else [{"explanation": "; ".join(unusable) or "nothing ran"}]
        remarks = [*work.remarks, *remarks, *(f"{work.period.name}: {reason}" for reason in unusable)]
        landed, is_new = land_period(self._store, self._request.mode, work, rows, unjudged=len(failed))
        self._anew |= {work.digest} if is_new else set()
        return PeriodOutcome(landed, remarks, runs, len(failed), (failed[0].error_message or "") if failed else "")

    def _made(
        self, source: Source, work: PeriodWork, remarks: list[str], runs: list[RunSummary], failed: list[ItemResult]
    ) -> str:
        """The run of a source, made unless it exists. Items on which the judge failed are added to `failed`."""
        if self._request.mode == "rescore":
            return self._rescored(source.name, remarks, failed)
        if self._request.mode == "recompute":
            if land_if_changed(self._store, source.name, self._reports(source.name), source.digest):
                remarks.append(f"run {source.name} has other figures today; they landed beside its own")
            return source.name
        made_now = len(runs)
        run_id = self._replayed(source, work, remarks, runs)
        if not self._is_unjudged(run_id):
            return run_id
        if len(runs) == made_now:  # an earlier call evaluated it: by now the judge may work
            return self._rescored(run_id, remarks, failed)
        failed += self._unjudged(run_id)
        return run_id

    def _rescored(self, of: str, remarks: list[str], failed: list[ItemResult]) -> str:
        """The scoring of a run's answers by what judges today, made unless it exists."""
        plan = plan_rescoring(self._request.rescoring(of))
        remarks += [f"{of}: {remark}" for remark in plan.remarks]
        if (judges := judges_of(plan.basis.scorings)) is not None:
            judges.budget = self._budget  # the limit is for the whole call, not for each run
        once_free(partial(scoring_lock, plan)).release()  # left out, the period would land without it, and stay so
        rescore(plan, concurrency=self._request.concurrency)
        failed += self._unjudged(plan.run_id)
        return plan.run_id

    def _replayed(self, source: Source, work: PeriodWork, remarks: list[str], runs: list[RunSummary]) -> str:
        run_id = None if self._request.force else find_scored(self._store, source.moment, "replay", source.digest)
        if run_id is not None and run_id not in self._store.unfinished():
            return run_id
        repository = Repository(Path(self._request.skills_repo or ""))
        revision = f"{repository.path}@{source.name[:12]}"
        with repository.checked_out(source.name, self._store.layout.root / WORKTREES) as tree:
            try:
                summary = self._evaluate(self._evaluation(source, work, tree, run_id))
            except UserError as error:
                raise InputError(str(error).replace(str(tree), revision)) from None
        remarks += [f"{work.period.name}: {skip}".replace(str(tree), revision) for skip in summary.skips]
        runs.append(summary)
        self._budget.spent_usd += summary.judging_usd
        if summary.is_partial:
            again = "raise the limit to continue" if summary.stopped else "make the same call again to continue"
            raise RunError(f"run {summary.run_id} {summary.stop_line or 'stopped early'}; {again}")
        if summary.out_of_budget:
            again = "the same call judges the rest, and gets further with a higher limit"
            raise RunError(f"run {summary.run_id}: {self._budget.shortage}, and not everything was judged; {again}")
        return summary.run_id

    def _evaluation(self, source: Source, work: PeriodWork, tree: Path, run_id: str | None) -> EvaluateRequest:
        if run_id is not None:
            names = ("store", "concurrency", "retries", "secrets", "allow_custom_code", *RunLimits.model_fields)
            kept = {name: getattr(self._request, name) for name in names}
            return EvaluateRequest(**kept, resume=run_id, format=[], max_judge_cost=self._budget.left_usd)
        provenance = {
            "mode": "replay",
            "repository": str(Path(self._request.skills_repo or "").resolve()),
            "commit": source.name,
            "period": work.period.name,
            "digest": source.digest,
            "backfilledAt": datetime.now(UTC).isoformat(),
        }
        skills = [str(tree / self._request.skills_path)]
        own = {"skills": skills, "origin": "replay", "provenance": provenance, "at": source.moment}
        request = self._request.evaluation(**own, max_judge_cost=self._budget.left_usd)
        make_plan(request)  # so that a revision that cannot be evaluated does not make a failed flow run
        return request

    def _before(self, now: dict[Key, PeriodResult], place: int) -> dict[Key, PeriodResult]:
        """For every skill and benchmark of a period, the result of the last earlier period that has one."""
        wanted = {result.line for result in now.values()}
        found: dict[Key, PeriodResult] = {}
        for then in self._past(place):
            here = {key: result for key, result in then.items() if result.line in wanted}
            found |= here
            wanted -= {result.line for result in here.values()}
            if not wanted:
                break
        return found

    def _past(self, place: int) -> Iterator[dict[Key, PeriodResult]]:
        for work in reversed(self.plan.works[:place]):
            if work.digest not in self._known:
                self._known[work.digest] = latest_results(
                    (run_id, self._reports(run_id)) for source in work.sources if (run_id := self._there(source))
                )
            yield self._known[work.digest]
        for source in reversed(self.plan.earlier):
            if (run_id := self._there(source)) is not None:
                yield latest_results([(run_id, self._reports(run_id))])

    def _there(self, source: Source) -> str | None:
        """The existing run of a source; None where there is none."""
        mode = self._request.mode
        if mode == "recompute":
            return source.name
        run_id = find_scored(self._store, source.moment, mode, source.digest)
        if mode == "rescore" or run_id is None or not self._is_unjudged(run_id):
            return run_id
        scoring = plan_rescoring(self._request.rescoring(run_id)).run_id  # what the judge failed was asked again since
        return scoring if scoring in self._store.tables.files("items") else run_id

    def _scored_before(self, source: Source) -> str | None:
        """The earlier scoring of a source, used where it cannot be scored today; None where there is none."""
        run_id = None if self._request.mode == "recompute" or self._request.force else self._there(source)
        return run_id if run_id in self._store.tables.files("items") else None

    def _is_unjudged(self, run_id: str) -> bool:
        """Whether the judge failed on an item of this run."""
        return any(report.summary.unjudged_items for report in self._reports(run_id))

    def _unjudged(self, run_id: str) -> list[ItemResult]:
        return unjudged(results_of(self._store.item_table(run_id)))

    def _reports(self, run_id: str) -> list[SkillCompletionReport]:
        scoring = self._request.scoring() if self._request.mode == "recompute" else ScoringOptions()
        return run_reports(self._store, run_id, scoring)
