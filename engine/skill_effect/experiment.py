"""The run behind an effect: an ordinary evaluation of the arms, which its manifest tells apart, and the effect that it shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import Field

from eval_skills.benchmarks import load_tasks
from eval_skills.benchmarks.importers.agent_skills.evals import PART
from eval_skills.core.documents.loading import validate_known
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.fingerprint import canonical_json
from eval_skills.core.models import Benchmark, EvalTask, SkillCompletionReport
from eval_skills.core.models.base import Model
from eval_skills.core.skill_effect.effect import skill_effect
from eval_skills.core.skill_effect.gate import FailOn
from eval_skills.core.skill_effect.model import Arm, SkillEffect
from eval_skills.core.store import Store
from eval_skills.core.store.layout import Layout
from eval_skills.core.store.manifest import EXPERIMENT, Manifest
from eval_skills.core.text import first_of
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.skill_effect.arms import Agent, Arms, make_arms
from eval_skills.engine.stored_runs.reports import check_items, read_source
from eval_skills.engine.stored_runs.run_ids import resolve_run_id

_NOT_ASKED = frozenset({"id", "name", "description", "metadata", "tags", "weight"})
"""Fields of a task that change nothing of what is asked, and expected of the answer."""


class Experiment(Model):
    """What the skills of a run are to each other: the ``id@version`` of each arm's, the Agent Skills, and the agent.

    `sources` are the folders that the Agent Skills were installed from. `fail_on` is the gate that a resume is held to, too.
    """

    names: list[str]
    arms: dict[Arm, str]
    runtime: str
    model: str | None = None
    sources: list[str] = Field(default_factory=list)
    fail_on: FailOn | None = None

    def labels_of(self, skill_key: str) -> frozenset[str]:
        """What tells an item of this skill (``id@version``) apart in Prefect: ``arm:with``, and ``skill:NAME`` for each."""
        arm = next((arm for arm, key in self.arms.items() if key == skill_key), None)
        return frozenset() if arm is None else frozenset({f"arm:{arm}", *(f"skill:{name}" for name in self.names)})


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
        UsageError: there is none, or a source is not a folder.
    """
    _refuse_no_folders(sources)
    if given:
        return Path(given)
    places = [source / "evals" / "evals.json" for source in sources]
    if (found := next((place for place in places if place.is_file()), None)) is None:
        looked = " or ".join(str(place) for place in places)
        raise UsageError(f"there is no {looked}; write one, or name a file of tasks with --tasks")
    return found


def _refuse_no_folders(sources: Sequence[Path]) -> None:
    if (other := next((source for source in sources if not source.is_dir()), None)) is not None:
        said = f"is a file; give its folder, {other.parent}" if other.exists() else "no such folder; give that of an Agent Skill"
        raise UsageError(f"{other}: {said}")


def folders_of_files(tasks: Path, sources: Sequence[Path]) -> list[Path]:
    """Where the files that tasks name are looked for: beside the tasks, above ``evals/``, and in the Agent Skills."""
    beside = tasks if tasks.is_dir() else tasks.parent
    above = [beside.parent] if beside.name == "evals" else []
    return [*above, beside, *sources]


def experiment(
    sources: Sequence[Path],
    arms: Sequence[Arm],
    agent: Agent,
    request: EvaluateRequest,
    *,
    root: Path,
    old: str | None = None,
    called: str | None = None,
    benchmark: Benchmark | None = None,
    fail_on: FailOn | None = None,
) -> tuple[EvaluateRequest, Arms]:
    """The evaluation that answers whether the Agent Skills `sources` help `agent`, and its arms, which are written below `root`.

    The tasks are those of `benchmark`, where the caller holds one, else those of `tasks_of`.

    Raises:
        InputError: as `make_arms`.
        UsageError: as `make_arms` and `tasks_of`.
    """
    if benchmark is None:
        tasks = tasks_of(sources, request.tasks)
        benchmark, request = load_tasks(tasks), request.model_copy(update={"tasks": str(tasks)})
        folders = folders_of_files(tasks, sources)
    else:
        _refuse_no_folders(sources)
        folders = [Path(), *sources]
    made = make_arms(sources, arms, agent, benchmark, files_in=folders, root=root, old=old, called=called)
    return as_evaluation(request, made, agent, fail_on), made


def as_evaluation(request: EvaluateRequest, arms: Arms, agent: Agent, fail_on: FailOn | None = None) -> EvaluateRequest:
    """The evaluation of the arms, in their order: of every task and run, all arms are asked one after the other."""
    experiment = Experiment(
        names=arms.names,
        arms=dict(arms.keys),
        runtime=agent.runtime,
        model=agent.model,
        sources=arms.sources,
        fail_on=fail_on,
    )
    said = {name: getattr(request, name) for name in request.model_fields_set}
    skills = [str(folder) for folder in arms.arms.values()]
    provenance = {**request.provenance, EXPERIMENT: experiment.to_json()}
    return EvaluateRequest(**{**said, "skills": skills, "provenance": provenance})


def experiment_of(store: Store, run_id: str) -> Experiment:
    """The experiment behind a run.

    Raises:
        UsageError: the run is not one of `skill-effect`.
    """
    if (found := experiment_in(store.manifest(run_id).provenance)) is None:
        raise UsageError(f"run {run_id} has no arms: it was not made by eval-skills skill-effect")
    return found


def experiment_in(provenance: Mapping[str, object]) -> Experiment | None:
    """The experiment behind a run, by the provenance in its manifest; None where it is an ordinary one."""
    return validate_known(Experiment, provenance[EXPERIMENT])[0] if EXPERIMENT in provenance else None


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
        copies=copies_in(benchmark) if benchmark else None,
        sources=experiment.sources,
    )


def copies_in(benchmark: Benchmark) -> dict[str, str]:
    """The tasks that ask and expect the same as an earlier one, each with that one."""
    first: dict[str, str] = {}
    copies: dict[str, str] = {}
    for task in benchmark.tasks:
        text = canonical_json({name: value for name, value in task.to_json().items() if name not in _NOT_ASKED})
        if (original := first.setdefault(text, task.id)) != task.id:
            copies[task.id] = original
    return copies


def effect_of_run(
    manifest: Manifest, reports: Sequence[SkillCompletionReport], benchmark: Benchmark | None = None
) -> SkillEffect | None:
    """The effect that the reports of a stored run show; None of a run without arms, and where one that it needs is missing."""
    if (experiment := experiment_in(manifest.provenance)) is None:
        return None
    try:
        return effect_of_reports(experiment, reports, manifest.run_id, benchmark)
    except InputError:
        return None


def _sentences(task: EvalTask) -> dict[str, str]:
    """What the parts of the score of an imported eval stand for."""
    said = task.metadata.get("assertions")
    return {f"{PART}{number}": str(text) for number, text in enumerate(said, start=1)} if isinstance(said, list) else {}


def stored_effect(store: str, given: str) -> tuple[SkillEffect, list[str]]:
    """The effect that a stored run shows, and remarks about it; `given` is its id, the beginning of it, or ``latest``.

    Raises:
        UsageError: there is no such run, it has no arms, or it is unfinished and an arm has no item yet.
        NoItemsError: it has no items any more.
    """
    run_id = resolve_run_id(Store(store), given, "no experiment to show")
    experiment = experiment_of(Store(store), run_id)
    source = read_source(run_id, store)
    check_items(source, "an effect is")
    missing = {*experiment.arms.values()} - {report.skill_key for report in source.reports}
    if source.unfinished is not None and missing:
        raise UsageError(f"{source.unfinished}; of {first_of(sorted(missing), 3)} nothing is known yet")
    found = effect_of_reports(experiment, source.reports, run_id, source.context.benchmark)
    return found.model_copy(update={"unfinished": source.unfinished}), source.remarks
