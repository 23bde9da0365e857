"""How a run begins, or goes on: judging models are asked whether they are there, and its manifest says what it is to be."""

from __future__ import annotations

import platform
from pathlib import Path

from eval_skills.core.fingerprint import digest_of_json, git_commit, installed_version
from eval_skills.core.models import Skill
from eval_skills.core.store import Manifest, ManifestBenchmark, ManifestSkill
from eval_skills.engine.definition.request import SKIPPED, absolute_if_there
from eval_skills.engine.definition.scoring import scorer_digests
from eval_skills.engine.evaluation.plan import RunPlan
from eval_skills.engine.judging.preflight import check_judges_ready


def begin_run(plan: RunPlan, flow_run_id: str | None = None) -> list[str]:
    """Write what the run is to be, or, of one that goes on, what it is held to from now on; returns remarks of judging models.

    Raises:
        UsageError: a judging model cannot be asked; no skill has been called.
        RunError: the manifest cannot be written, or a judging model cannot be reached.
    """
    remarks = check_judges_ready(plan.scorings, simulators=plan.calls_skills) if plan.items and plan.judges is not None else []
    if plan.request.resume:
        now = plan.request.to_json()
        then = plan.store.manifest(plan.run_id).request
        plan.amend_manifest(request=then | {key: now[key] for key in ("minCompletion", "exitOnFail")})
    else:
        plan.write_manifest(manifest_of(plan).model_copy(update={"flow_run_id": flow_run_id}))
    return remarks


_RECORDED_VERSIONS = ("eval-skills", "prefect", "pydantic", "pandas", "pyarrow")


def manifest_of(plan: RunPlan) -> Manifest:
    """The request, with fingerprints of everything that decides the results. Paths are absolute, so a resume finds them."""
    request = plan.request.model_copy(
        update={
            "skills": [str(skill.folder) for skill in plan.skills.values() if skill.folder],
            "traces": absolute_if_there(plan.request.traces),
            "replay": absolute_if_there(plan.request.replay),
            "record": plan.request.record and str(Path(plan.request.record).resolve()),
            # one that a program holds has a name, which is not that of a folder that happens to be here
            "benchmark": absolute_if_there(plan.request.benchmark) if plan.benchmark_path else plan.request.benchmark,
            "tasks": absolute_if_there(plan.request.tasks),
            "benchmarks_dir": absolute_if_there(plan.request.benchmarks_dir),
            "output_dir": str(Path(plan.request.output_dir).resolve()),
        }
    )
    return Manifest(
        run_id=plan.run_id,
        created_at=plan.began,
        request=request.to_json(),
        skills=[_skill(skill, plan.digests[key], plan.request.traces) for key, skill in plan.skills.items()],
        benchmark=ManifestBenchmark(
            id=plan.benchmark.id,
            version=plan.benchmark.version,
            digest=plan.digests["benchmark"],
            path=str(plan.benchmark_path) if plan.benchmark_path else None,
        ),
        versions={"python": platform.python_version(), **{name: installed_version(name) for name in _RECORDED_VERSIONS}},
        scorers=scorer_digests(plan.scorings.values(), plan.benchmark_path),
        git_commit=git_commit(Path.cwd()),
        platform=platform.platform(),
        planned_items=plan.planned,
        provenance=plan.request.provenance,
        skipped=[*plan.request.provenance.get(SKIPPED, ()), *plan.skips],
    )


def _skill(skill: Skill, digest: str, traces: str | None) -> ManifestSkill:
    path = absolute_if_there(traces) if skill.folder is None else str(skill.folder)
    called = digest_of_json({"entrypoint": skill.entrypoint, "adapterConfig": skill.adapter_config})
    return ManifestSkill(key=skill.key, digest=digest, path=path, adapter=skill.adapter_type, adapter_digest=called)
