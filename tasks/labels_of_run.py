"""Labels held against the verdicts of a stored run. Plain: no Prefect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval_skills.core.errors import InputError, UsageError
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
from eval_skills.tasks.report_source import LATEST, recorded_request
from eval_skills.tasks.task_digests import benchmark_digests


def labels_of_run(store: Store, request: CalibrateRequest, labels: Sequence[Label]) -> LabelledAnswers:
    """The labels, each with the verdict of its item.

    Raises:
        UserError: there is no such run, its benchmark cannot be used, or a label fits no item or several.
    """
    run_id = store.latest_run() if request.run_id == LATEST else request.run_id
    if run_id is None:
        raise UsageError(f"the store {store.path} holds no run to be held against labels")
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
    digests = benchmark_digests(benchmark, folder)
    judged = [_stored(label, item, judges, digests) for label, item in matched(labels, results, request.labels, run_id)]
    return LabelledAnswers(benchmark, digests["benchmark"], judged, run_id)


def _stored(label: Label, item: ItemResult, judges: Mapping[str, JudgeIdentity], digests: Mapping[str, str]) -> JudgedLabel:
    judge = judges.get(item.task_id)
    if item.task_digest is not None and item.task_digest != digests.get(f"task/{item.task_id}"):
        return JudgedLabel(label, why="its task is another one today")
    if judge is None:
        return JudgedLabel(label, why=NO_MODEL)
    return JudgedLabel.of(label, judge, item.status, item.reasons, item.dimensions.get(QUALITY, item.score), item.passed)
