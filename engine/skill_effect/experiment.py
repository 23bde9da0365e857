"""The run behind an effect: an ordinary evaluation of the arms, which its manifest tells apart, and the effect that it shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from eval_skills.benchmarks.importers.agent_skills.evals import PART
from eval_skills.core.documents.loading import validate_known
from eval_skills.core.errors import UsageError
from eval_skills.core.models import Benchmark, EvalTask, SkillCompletionReport
from eval_skills.core.models.base import Model
from eval_skills.core.skill_effect import Arm, SkillEffect, skill_effect
from eval_skills.core.store import Store
from eval_skills.core.store.layout import Layout
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.skill_effect.arms import Agent, Arms
from eval_skills.engine.stored_runs.reports import read_source
from eval_skills.engine.stored_runs.run_ids import resolve_run_id

PROVENANCE = "skillEffect"
"""Where a manifest has the `Experiment`."""


class Experiment(Model):
    """What the skills of a run are to each other: the ``id@version`` of each arm's, the Agent Skills, and the agent."""

    names: list[str]
    arms: dict[Arm, str]
    runtime: str
    model: str | None = None


@contextmanager
def arms_folder(store: str, *, dry_run: bool = False) -> Iterator[Path]:
    """Where the arms of the experiments of a store are; in a dry run a folder that is removed."""
    if not dry_run:
        yield Layout.of(store).root / "agent-skills"
        return
    with TemporaryDirectory() as folder:
        yield Path(folder)


def tasks_of(sources: Sequence[Path], given: str | None) -> Path:
    """The file of tasks: the one that was given, else the ``evals/evals.json`` of the first Agent Skill that has one.

    Raises:
        UsageError: there is none.
    """
    if given:
        return Path(given)
    places = [source / "evals" / "evals.json" for source in sources]
    if (found := next((place for place in places if place.is_file()), None)) is None:
        looked = " or ".join(str(place) for place in places)
        raise UsageError(f"there is no {looked}; write one, or name a file of tasks with --tasks")
    return found


def folders_of_files(tasks: Path, sources: Sequence[Path]) -> list[Path]:
    """Where the files that tasks name are looked for: beside the tasks, above ``evals/``, and in the Agent Skills."""
    beside = tasks if tasks.is_dir() else tasks.parent
    above = [beside.parent] if beside.name == "evals" else []
    return [*above, beside, *sources]


def as_evaluation(request: EvaluateRequest, arms: Arms, agent: Agent) -> EvaluateRequest:
    """The evaluation of the arms, in their order: of every task and run, all arms are asked one after the other."""
    experiment = Experiment(names=arms.names, arms=dict(arms.keys), runtime=agent.runtime, model=agent.model)
    said = {name: getattr(request, name) for name in request.model_fields_set}
    skills = [str(folder) for folder in arms.arms.values()]
    return EvaluateRequest(**{**said, "skills": skills, "provenance": {PROVENANCE: experiment.to_json()}})


def experiment_of(store: Store, run_id: str) -> Experiment:
    """The experiment behind a run.

    Raises:
        UsageError: the run is not one of `skill-effect`.
    """
    manifest = store.manifest(run_id)
    if PROVENANCE not in manifest.provenance:
        raise UsageError(f"run {run_id} has no arms: it was not made by eval-skills skill-effect")
    return validate_known(Experiment, manifest.provenance[PROVENANCE])[0]


def effect_of_reports(
    experiment: Experiment, reports: Sequence[SkillCompletionReport], run_id: str, benchmark: Benchmark | None = None
) -> SkillEffect:
    """The effect that the reports of a run show; the `benchmark`, where it is known, has the sentences of assertions.

    Raises:
        InputError: an arm that it needs has no report, or the reports hold figures only.
    """
    by_key: Mapping[str, SkillCompletionReport] = {report.skill_key: report for report in reports}
    found: dict[Arm, SkillCompletionReport] = {arm: by_key[key] for arm, key in experiment.arms.items() if key in by_key}
    return skill_effect(
        found,
        names=experiment.names,
        agent=experiment.runtime,
        model=experiment.model,
        run_id=run_id,
        checks={task.id: _sentences(task) for task in benchmark.tasks} if benchmark else None,
    )


def _sentences(task: EvalTask) -> dict[str, str]:
    """What the parts of the score of an imported eval stand for."""
    said = task.metadata.get("assertions")
    return {f"{PART}{number}": str(text) for number, text in enumerate(said, start=1)} if isinstance(said, list) else {}


def stored_effect(store: str, given: str) -> tuple[SkillEffect, list[str]]:
    """The effect that a stored run shows, and remarks about it; `given` is its id, the beginning of it, or ``latest``.

    Raises:
        UsageError: there is no such run, or it has no arms.
        InputError: it has no items any more.
    """
    run_id = resolve_run_id(Store(store), given, "no experiment to show")
    experiment = experiment_of(Store(store), run_id)
    source = read_source(run_id, store)
    return effect_of_reports(experiment, source.reports, run_id, source.context.benchmark), source.remarks
