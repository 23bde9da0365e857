"""The plan of a backfill: its periods, what goes into each, and which of them are up to date."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from eval_skills.adapters import Confinement
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.fingerprint import digest_of_json
from eval_skills.core.store import Manifest, Store, started_at
from eval_skills.core.store.layout import is_yet_to_come
from eval_skills.core.store.store import is_primary, without_parts
from eval_skills.core.text import plural
from eval_skills.engine.backfill.periods import PeriodWork, digested, period_at, works_of
from eval_skills.engine.backfill.request import BackfillRequest
from eval_skills.engine.backfill.sources import Source, StoredRuns
from eval_skills.engine.definition.request import check_writable, confinement_asked
from eval_skills.engine.definition.revisions import Repository, Revision
from eval_skills.engine.rescoring.basis import scoring_basis
from eval_skills.scorers import TaskScoring

Dated = TypeVar("Dated")


@dataclass(frozen=True, slots=True)
class BackfillPlan:
    """The periods, oldest first; `earlier` are the runs or commits before them that the first ones are compared with.

    `scorings` are all by which answers will be scored; none in a recomputation.
    """

    request: BackfillRequest
    store: Store
    works: list[PeriodWork]
    earlier: list[Source] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    scorings: dict[str, TaskScoring] = field(default_factory=dict)

    @property
    def pending(self) -> list[PeriodWork]:
        """The periods to work on."""
        return [work for work in self.works if self.is_pending(work)]

    def is_pending(self, work: PeriodWork) -> bool:
        """Whether there is work to do on this period."""
        return self.request.force or not work.landed


def plan_backfill(request: BackfillRequest) -> BackfillPlan:
    """A checked plan; nothing is written.

    Raises:
        UserError: there is no such store or repository, nothing in it is from that time, or it cannot be used.
    """
    store = Store(request.store)
    return _replay_plan(request, store) if request.mode == "replay" else _stored_plan(request, store)


def _stored_plan(request: BackfillRequest, store: Store) -> BackfillPlan:
    unfinished, landed = set(store.unfinished()), store.tables.files("items")
    runs = [(run_id, store.find_manifest(run_id)) for run_id in store.run_ids() if run_id in landed]
    runs = without_parts(runs, _about, lambda run: run[1].origin if run[1] else None)
    inside = [each for each in runs if _is_inside(started_at(each[0]), request.since, request.until)]
    inside, early = _begun(inside, lambda run: started_at(run[0]), request)
    left_open = [run_id for run_id, _ in inside if run_id in unfinished]
    pruned = [run_id for run_id in _without_items(store) if _is_inside(started_at(run_id), request.since, request.until)]
    left_out = [f"{plural(len(pruned), 'run')} left out: the items were deleted, and only reports are left"] if pruned else []
    left_out += [f"{plural(early, 'run')} left out: {_TO_COME}"] if early else []
    if not inside:
        held = _span([run_id for run_id, _ in runs])
        raise UsageError("; ".join([f"no run of the store {store.path} is from this time; it holds {held}", *left_out]))
    maker = StoredRuns(request, store)
    sources = [source for each in inside if each[0] not in unfinished and (source := maker.source(*each)) is not None]
    remarks = [*dict.fromkeys(maker.remarks), *left_out]
    if left_open:
        remarks.append(f"{plural(len(left_open), 'run')} left out: unfinished; the last is {left_open[-1]}")
    if not sources:
        raise InputError(f"none of the {plural(len(inside), 'run')} in this time can be used: {'; '.join(remarks)}")
    earlier, scorings = [], maker.scorings
    if request.since is not None:
        before = [each for each in runs if started_at(each[0]) < request.since and each[0] not in unfinished]
        earlier = [source for each in before if (source := maker.source(*each)) is not None]
    return BackfillPlan(request, store, works_of(request, store, sources, earlier), earlier, remarks, scorings)


def _without_items(store: Store) -> list[str]:
    """The runs of whole benchmarks of which only reports are left, as `nightly --keep-days` leaves them."""
    landed, unfinished = store.tables.files("items"), set(store.unfinished())
    left = [run_id for run_id in store.tables.files("reports") if run_id not in landed and run_id not in unfinished]
    manifests = (store.find_manifest(run_id) for run_id in left)
    return [each.run_id for each in manifests if each is not None and is_primary(each.origin)]


def _replay_plan(request: BackfillRequest, store: Store) -> BackfillPlan:
    base = request.evaluation()
    check_writable(base)
    confinement_asked(base).check()
    basis = scoring_basis(request.scoring(), base)
    repository = Repository(Path(request.skills_repo or ""))
    of = repository.tags if request.every == "tag" else repository.commits
    found, early = _begun(of(request.since, request.until), lambda each: each.moment, request)
    remarks = [f"{plural(early, 'commit')} left out: {_TO_COME}"] if early else []
    found = _last_of_periods(found, request)
    if not found:
        what = "commit with a tag" if request.every == "tag" else "commit"
        raise UsageError("; ".join([f"no {what} of {repository.path} is from this time", *remarks]))
    if not any(repository.holds(each.commit, request.skills_path) for each in found):
        raise UsageError(f"--skills-path {request.skills_path}: no revision of {repository.path} from this time has it")
    options = {"runs": base.runs, "timeoutMs": base.timeout_ms, "expectation": basis.expectation, "path": request.skills_path}
    if confinement_asked(base) != Confinement():  # without one the digest is that of earlier versions
        held = asdict(confinement_asked(base))
        options["confinement"] = {name: held[name] for name in held if name != "hidden"}

    def source_of(revision: Revision) -> Source:
        return Source(revision.commit, revision.moment, digest_of_json({"commit": revision.commit, **options}))

    grouped = [(period_at(request.every, each.moment, each.tag), [source_of(each)]) for each in found]
    before = [] if request.since is None else _last_of_periods(of(None, grouped[0][0].start), request)
    earlier = [source_of(each) for each in before]
    if repository.is_shallow:
        remarks.append(f"{repository.path} is a shallow repository: revisions that it does not have are left out")
    return BackfillPlan(request, store, digested(request, store, grouped, earlier), earlier, remarks, basis.scorings)


def _last_of_periods(found: list[Revision], request: BackfillRequest) -> list[Revision]:
    """The last commit of each period, oldest period first; every tag is a period of its own."""
    if request.every == "tag":
        return found
    last = {period_at(request.every, each.moment, None).name: each for each in found}
    return sorted(last.values(), key=lambda each: each.moment)


_TO_COME = "dated in the future, so a clock was or is wrong; --until with a later day includes what is from then"


def _begun(found: list[Dated], moment_of: Callable[[Dated], datetime], request: BackfillRequest) -> tuple[list[Dated], int]:
    """Those that are not dated in the future, and how many are; where the request says until when, all are kept."""
    begun = [each for each in found if request.until is not None or not is_yet_to_come(moment_of(each))]
    return begun, len(found) - len(begun)


def _about(run: tuple[str, Manifest | None]) -> str | None:
    return run[1].benchmark.id if run[1] else None


def _is_inside(moment: datetime, since: datetime | None, until: datetime | None) -> bool:
    # a run id knows the second only
    return (since is None or moment >= since.astimezone(UTC).replace(microsecond=0)) and (until is None or moment < until)


def _span(run_ids: Sequence[str]) -> str:
    if not run_ids:
        return "no finished run"
    first, last = started_at(run_ids[0]), started_at(run_ids[-1])
    return f"{plural(len(run_ids), 'run')} from {first:%Y-%m-%d} to {last:%Y-%m-%d}"
