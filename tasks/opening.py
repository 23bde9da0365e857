"""The first write of a run: its manifest. From then on the run can be resumed."""

from __future__ import annotations

from prefect import task
from prefect.cache_policies import NO_CACHE

from eval_skills.core.store import write_manifest
from eval_skills.tasks.judging import make_ready
from eval_skills.tasks.plan import RunPlan, make_plan
from eval_skills.tasks.request import EvaluateRequest
from eval_skills.tasks.resume import resumed_plan
from eval_skills.tasks.run_manifest import manifest_of


@task(persist_result=False, cache_policy=NO_CACHE)
def plan_items(request: EvaluateRequest) -> RunPlan:
    """Skills × tasks × runs, minus what the journal already holds; a new run gets its manifest here."""
    if request.resume:
        resumed = resumed_plan(request)
        resumed.remarks.extend(make_ready(resumed.scorings) if resumed.items else ())
        return resumed
    plan = make_plan(request)
    plan.remarks.extend(make_ready(plan.scorings))
    write_manifest(plan.store.run_folder(plan.run_id), manifest_of(plan), secrets=plan.secrets())
    return plan
