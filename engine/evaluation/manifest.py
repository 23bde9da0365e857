"""The manifest of a run."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path

from eval_skills.core.fingerprint import digest_of_json, git_commit
from eval_skills.core.models import Skill
from eval_skills.core.store import Manifest, ManifestBenchmark, ManifestSkill
from eval_skills.engine.definition.digests import scorer_digests
from eval_skills.engine.evaluation.plan import RunPlan

_RECORDED_VERSIONS = ("eval-skills", "prefect", "pydantic", "pandas", "pyarrow")


def manifest_of(plan: RunPlan) -> Manifest:
    """The request, with fingerprints of everything that decides the results. Paths are absolute, so a resume finds them."""
    request = plan.request.model_copy(
        update={
            "skills": [str(skill.folder) for skill in plan.skills.values() if skill.folder],
            "traces": _absolute(plan.request.traces),
            "benchmark": _absolute(plan.request.benchmark),
            "tasks": _absolute(plan.request.tasks),
            "benchmarks_dir": _absolute(plan.request.benchmarks_dir),
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
        versions={"python": platform.python_version(), **{name: version(name) for name in _RECORDED_VERSIONS}},
        scorers=scorer_digests(plan.scorings.values(), plan.benchmark_path),
        git_commit=git_commit(Path.cwd()),
        platform=platform.platform(),
        planned_items=plan.planned,
        provenance=plan.request.provenance,
    )


def _skill(skill: Skill, digest: str, traces: str | None) -> ManifestSkill:
    path = _absolute(traces) if skill.folder is None else str(skill.folder)
    called = digest_of_json({"entrypoint": skill.entrypoint, "adapterConfig": skill.adapter_config})
    return ManifestSkill(key=skill.key, digest=digest, path=path, adapter=skill.adapter_type, adapter_digest=called)


def _absolute(path: str | None) -> str | None:
    return str(Path(path).resolve()) if path and Path(path).exists() else path
