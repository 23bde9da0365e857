"""The plan of a rescoring: which answers are scored, by what, and under which run id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from eval_skills.core.config.options import TaskChoice
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.fingerprint import digest_of_json
from eval_skills.core.models import ItemResult
from eval_skills.core.models.result import ItemKey
from eval_skills.core.store import Manifest, Store, derived_run_id, results_of, started_at
from eval_skills.core.store.retention import pruned_words
from eval_skills.core.store.scorings import counts
from eval_skills.core.text import excerpt, plural
from eval_skills.engine.definition.benchmark import check_judges, digests_of_the_same
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.definition.scoring import judges_of
from eval_skills.engine.rescoring.basis import SETTINGS, ScoringBasis, scoring_basis
from eval_skills.engine.rescoring.request import RescoreRequest
from eval_skills.engine.stored_runs.chosen_tasks import with_chosen_tasks
from eval_skills.engine.stored_runs.continuation import continued_by, why_not_continued, worked_at
from eval_skills.engine.stored_runs.reports import recorded_request, refuse_without_evaluator
from eval_skills.engine.stored_runs.run_ids import resolve_run_id
from eval_skills.scorers.judging.model import EmbeddingModel

JUDGED_AGAIN = frozenset({"scorer", "judge"})
"""Error kinds of items that have an answer: their scoring failed."""

_NAMES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Rescoring:
    """A rescoring of one run's answers, checked and ready.

    `results` are the stored items without those that cannot be scored again (`remarks` count them); of these, `cut` have an
    answer that was cut when it landed. `run_id` is where the rescoring lands. `before` are the items that an earlier call of the
    same rescoring has landed there, by their keys, and `failed` those on which the judge failed then. `landed`: none is left.
    """

    store: Store
    of: str
    run_id: str
    digest: str
    basis: ScoringBasis
    results: list[ItemResult]
    manifest: Manifest | None
    before: dict[ItemKey, ItemResult] = field(default_factory=dict)
    failed: dict[ItemKey, ItemResult] = field(default_factory=dict)
    landed: bool = False
    cut: int = 0
    remarks: list[str] = field(default_factory=list)

    @property
    def counts(self) -> bool:
        """Whether it has landed, and no other scoring of these answers was asked for since."""
        return self.landed and counts(self.store, self.run_id)

    def as_it_stands(self) -> Rescoring:
        """The same rescoring, with what has landed by now."""
        landed = results_of(self.store.item_table(self.run_id))
        before = {result.key: result for result in landed if result.error_kind != "judge"}
        failed = {result.key: result for result in landed if result.error_kind == "judge"}
        return replace(self, before=before, failed=failed, landed=all(result.key in before for result in self.results))


def plan_rescoring(request: RescoreRequest) -> Rescoring:
    """A checked plan; nothing is written and no answer is scored.

    Raises:
        UsageError: there is no such run, or it is unfinished.
        InputError: its benchmark no longer exists, or nothing of it can be scored again.
    """
    store = Store(request.store)
    of = _finished_run(store, request.run_id)
    request = with_chosen_tasks(request, store)
    manifest = store.find_manifest(of)
    table = store.item_table(of)
    if not table.num_rows and (pruned := pruned_words(store, of)) is not None:
        raise InputError(f"nothing of run {of} can be scored again: {pruned}")
    results, cut = results_of(table), table["output_truncated"].to_pylist()
    basis = scoring_basis(request, _recorded(manifest, results, request))
    chosen = any(getattr(request, name) for name in TaskChoice.model_fields)
    truncated = {result.key for result, was_cut in zip(results, cut, strict=True) if was_cut and has_answer(result)}
    asked = [result for result in results if result.task_id in basis.scorings or not chosen]
    if not asked:
        raise UsageError(f"run {of} has none of the chosen tasks; loosen the options that choose them")
    left, remarks = _scorable(asked, truncated, basis, of)
    if len(asked) < len(results):
        remarks.insert(
            0, f"{plural(len(asked), 'item')} of the chosen tasks; the other {len(results) - len(asked):,} are left out"
        )
    check_judges(basis.scorings)
    digest = rescoring_digest(store, of, basis)
    found = None if request.force else find_scored(store, started_at(of), "rescore", digest)
    plan = Rescoring(
        store=store,
        of=of,
        run_id=found or derived_run_id(started_at(of), digest, set(store.run_ids())),
        digest=digest,
        basis=basis,
        results=left,
        manifest=manifest,
        cut=sum(key[1] in basis.scorings for key in truncated),
        remarks=[*_changes(manifest, left, basis, of), *remarks],
    )
    return plan.as_it_stands()


def rescoring_digest(store: Store, of: str, basis: ScoringBasis) -> str:
    """The digest of a rescoring: of the stored items and of everything that scores them."""
    return digest_of_json({"items": store.tables.digest("items", of), "scoring": basis.digest})


def find_scored(store: Store, moment: datetime, mode: str, digest: str) -> str | None:
    """The run at this moment whose provenance has this mode and digest, landed or only started; None where there is none."""
    at = moment.replace(microsecond=0)
    for run_id in reversed([run_id for run_id in store.run_ids() if started_at(run_id) == at]):
        manifest = store.find_manifest(run_id)
        if manifest and (manifest.provenance.get("mode"), manifest.provenance.get("digest")) == (mode, digest):
            return run_id
    return None


def _finished_run(store: Store, given: str) -> str:
    run_id = resolve_run_id(store, given, "nothing to score again")
    if run_id in store.unfinished():
        raise UsageError(f"run {run_id} is unfinished{_finished_how(store, run_id)}")
    return run_id


def _finished_how(store: Store, run_id: str) -> str:
    if (at := worked_at(store, run_id, is_unfinished=True)) is not None:
        return f": a process works at {at}; wait until it ends"
    if (again := continued_by(store, run_id, is_unfinished=True)) is not None:
        return f"; finish it first with: {again}"
    return f", and {why_not_continued(store, run_id)}"


def _recorded(manifest: Manifest | None, results: Sequence[ItemResult], request: RescoreRequest) -> EvaluateRequest:
    then = recorded_request(manifest)
    if then is None and request.benchmark is None and request.tasks is None:
        benchmark = results[0].benchmark_id
        raise InputError(f"the run's manifest cannot be read; name its benchmark, as with --benchmark {benchmark}")
    if then is not None:
        refuse_without_evaluator(manifest, request.evaluator or then.evaluator)
    return then or EvaluateRequest()


def _scorable(
    results: Sequence[ItemResult], truncated: set[ItemKey], basis: ScoringBasis, of: str
) -> tuple[list[ItemResult], list[str]]:
    benchmark = basis.benchmark
    gone = [result for result in results if result.task_id not in basis.scorings]
    here = [result for result in results if result.task_id in basis.scorings]
    left = [result for result in here if result.key not in truncated]
    unanswered = sum(not has_answer(result) for result in left)
    remarks = []
    if gone:
        names = _named({result.task_id for result in gone})
        remarks.append(f"{plural(len(gone), 'item')} left out: {benchmark.id}@{benchmark.version} does not have {names}")
    if len(left) < len(here):
        count = plural(len(here) - len(left), "item")
        remarks.append(f"{count} left out: the answer was cut to 64 KiB when it landed, so it cannot be scored")
    if unanswered:
        remarks.append(f"{plural(unanswered, 'item')} kept as an error or timeout: there is no answer to score")
    if unanswered == len(left):
        raise InputError(f"nothing of run {of} can be scored again: {'; '.join(remarks)}", source=basis.request.store)
    return left, remarks


def has_answer(result: ItemResult) -> bool:
    """Whether there is an answer to score. A run that called a forbidden tool and then ended in an error has none."""
    return result.error_kind in JUDGED_AGAIN or (result.error_kind is None and result.status in {"pass", "fail"})


def _changes(manifest: Manifest | None, results: Sequence[ItemResult], basis: ScoringBasis, of: str) -> list[str]:
    then = manifest.benchmark if manifest else None
    now = basis.benchmark
    remarks = []
    if then is not None and then.id != now.id:
        remarks = [f"run {of} evaluated {then.id}@{then.version}; its answers are scored by {now.id}@{now.version}"]
    digests = {result.task_id: result.task_digest for result in results}
    same = digests_of_the_same(now, basis.folder)
    changed = {name for name, digest in digests.items() if digest not in (None, *same[f"task/{name}"])}
    if changed:
        remarks.append(
            f"{plural(len(changed), 'task')} changed since run {of} ({_named(changed)}): the answers are scored by what is "
            "expected today; where the input changed, they answer another question"
        )
    asked_then = recorded_request(manifest)
    remarks += _other_settings(asked_then, basis, of)
    if not any(_asked_a_model(result) for result in results):
        return remarks
    return [*remarks, *_other_judge(asked_then, basis, of)]


def _other_settings(then: EvaluateRequest | None, basis: ScoringBasis, of: str) -> list[str]:
    """A remark where what else decides about scores is not what it was then, as weights that the configuration has changed."""
    if then is None:
        return []
    before, today = (
        each.model_dump(mode="json", by_alias=True, exclude_none=True, include=set(SETTINGS)) for each in (then, basis.request)
    )
    shown = [f"{name} {excerpt(old)} then, {excerpt(today[name])} now" for name, old in before.items() if old != today[name]]
    return [f"run {of} was scored with other settings: {'; '.join(shown)}"] if shown else []


def _asked_a_model(result: ItemResult) -> bool:
    """Whether a model was to judge this item, be it by a reply from the cache."""
    return result.judge_requests is not None or result.judge_tokens is not None or result.error_kind == "judge"


def _other_judge(then: EvaluateRequest | None, basis: ScoringBasis, of: str) -> list[str]:
    """A remark where the run's judging model, or a setting on which its verdicts depend, is not the one of then."""
    if then is None or judges_of(basis.scorings) is None:
        return []
    models = {model for scoring in basis.scorings.values() for model in scoring.models}
    of_embedding = any(isinstance(model, EmbeddingModel) for model in models)
    unused = {*(() if None in models else ("model",)), *(() if of_embedding else ("embeddingModel",))}
    before, today = then.llm.deciding, basis.request.llm.deciding
    names = [name for name in {**before, **today} if name not in unused]
    differ = [name for name in names if (before.get(name) or None) != (today.get(name) or None)]
    if not differ:
        return []
    shown = [f"llm.{name} {_said(before.get(name))} then, {_said(today.get(name))} now" for name in differ]
    return [f"run {of} was judged with other settings: {'; '.join(shown)}"]


def _said(value: object) -> str:
    return "not set" if value is None else f"{value}"


def _named(names: set[str]) -> str:
    shown = sorted(names)
    more = f" and {len(shown) - _NAMES_SHOWN} more" if len(shown) > _NAMES_SHOWN else ""
    return ", ".join(map(repr, shown[:_NAMES_SHOWN])) + more
