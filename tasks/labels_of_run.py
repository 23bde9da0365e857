"""Labels held against the verdicts of a stored run. Plain: no Prefect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval_skills.core.errors import InputError
from eval_skills.core.labels import Label
from eval_skills.core.models import ItemResult
from eval_skills.core.store import Store, results_of
from eval_skills.scorers.judging.identity import JudgeIdentity
from eval_skills.tasks.asked_benchmark import benchmark_of
from eval_skills.tasks.calibrate_request import CalibrateRequest
from eval_skills.tasks.compare_request import asked_instead
from eval_skills.tasks.judged_items import QUALITY, recorded_judges
from eval_skills.tasks.labelled_answers import NO_MODEL, JudgedLabel, LabelledAnswers
from eval_skills.tasks.labelled_items import matched
from eval_skills.tasks.named_run import LATEST, named_run
from eval_skills.tasks.report_source import recorded_request
from eval_skills.tasks.task_digests import benchmark_digests, digests_of_the_same


def labels_of_run(store: Store, request: CalibrateRequest, labels: Sequence[Label]) -> LabelledAnswers:
    """The labels, each with the verdict of its item.

    Raises:
        UserError: there is no such run, its benchmark cannot be used, or a label fits no item or several.
    """
    run_id = named_run(store, request.run_id or LATEST, "nothing to hold labels against")
    if run_id not in store.run_ids():
        store.manifest(run_id)
    then = recorded_request(store.find_manifest(run_id))
    if then is None:
        raise InputError(f"the manifest of run {run_id} cannot be read, so it is not known which model judged", source=store.path)
    everything: dict[str, Any] = {"task_tags": [], "task_ids": [], "complexity": []}
    asked = then.model_copy(update=everything | asked_instead(request))
    benchmark, folder = benchmark_of(asked)
    judges = recorded_judges(asked, benchmark, folder)
    results = results_of(store.item_table(run_id))
    if not results:
        raise InputError(f"run {run_id} has no finished item", source=store.path)
    if (was := results[0].benchmark_id) != benchmark.id:
        raise InputError(f"run {run_id} was asked {was}, not {benchmark.id}", source=store.path)
    same = digests_of_the_same(benchmark, folder)
    judged = [_stored(label, item, judges, same) for label, item in matched(labels, results, request.labels, run_id)]
    return LabelledAnswers(benchmark, benchmark_digests(benchmark, folder)["benchmark"], judged, run_id)


def _stored(
    label: Label, item: ItemResult, judges: Mapping[str, JudgeIdentity], same: Mapping[str, frozenset[str]]
) -> JudgedLabel:
    judge = judges.get(item.task_id)
    if item.task_digest not in (None, *same.get(f"task/{item.task_id}", ())):
        return JudgedLabel(label, why="its task is another one today")
    if judge is None:
        return JudgedLabel(label, why=NO_MODEL)
    return JudgedLabel.of(label, judge, item.status, item.reasons, item.dimensions.get(QUALITY, item.score), item.passed)
