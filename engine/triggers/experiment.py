"""The run behind the figures of triggers: an agent with the Agent Skill and its neighbours installed is asked every query."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval_skills.agent_skills.folder import read_agent_skill
from eval_skills.agent_skills.queries_file import QUERIES_FILE, read_queries_file
from eval_skills.core.documents.loading import read_document, validate_known
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.fingerprint import digest_of_json
from eval_skills.core.models import Benchmark, SkillCompletionReport
from eval_skills.core.models.base import Model
from eval_skills.core.models.task import TRIGGER_QUERIES
from eval_skills.core.store import Store
from eval_skills.core.store.files import PRIVATE, write_whole
from eval_skills.core.store.manifest import TRIGGERS, Manifest
from eval_skills.core.triggers import Query, Triggers, trigger_rates
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.skill_effect.arms import Agent, make_arms
from eval_skills.engine.skill_effect.experiment import arms_folder
from eval_skills.engine.stored_runs.reports import check_items, read_source
from eval_skills.engine.stored_runs.run_ids import resolve_run_id

MAX_NOTED_BYTES = 200_000
"""More of queries is not noted with a run but read from the file of its tasks: Prefect takes half a megabyte of parameters."""


class TriggerExperiment(Model):
    """What a run of queries is about: the Agent Skill, its neighbours, the queries by the ids of their tasks, and the agent.

    `exit_on_fail`: it has a gate, which a resume is held to, too. As a run has it noted, `queries` are none where they are too
    many: `trigger_experiment_of` has them all.
    """

    skill: str
    neighbours: list[str]
    queries: list[Query]
    runtime: str
    model: str | None = None
    exit_on_fail: bool = False


SHOULD_TRIGGER = "should-trigger"
"""The tag of the tasks whose query should load the Agent Skill."""


@dataclass(frozen=True, slots=True)
class PreparedTriggers:
    """The folder of the agent, the file of its tasks, and what they are about."""

    folder: Path
    tasks: Path
    experiment: TriggerExperiment


def queries_of(source: Path, given: Path | None) -> Path:
    """The file of queries: the one that was given, else that of the Agent Skill.

    Raises:
        UsageError: there is none.
    """
    if given is not None:
        return given
    places = [source / QUERIES_FILE, source / Path(QUERIES_FILE).name]
    if (found := next((place for place in places if place.is_file()), None)) is None:
        looked = " or ".join(str(place) for place in places)
        raise UsageError(f"there is no {looked}; write one, or name a file of queries with --queries")
    return found


def read_queries(file: Path) -> list[Query]:
    """The queries of a file, under ids by their places.

    Raises:
        InputError: it cannot be read, holds no queries, or asks the same twice: the query is the unit of the rates, and one that
            is asked twice would count double, with two labels even against itself.
    """
    queries = [
        Query(id=f"q{number:03}", query=each.query, should_trigger=each.should_trigger)
        for number, each in enumerate(read_queries_file(file), start=1)
    ]
    first: dict[str, int] = {}
    for at, each in enumerate(queries):
        before = first.setdefault(" ".join(each.query.split()).casefold(), at)
        if before != at:
            against = "" if queries[before].should_trigger is each.should_trigger else ", with the opposite should_trigger"
            message = f"[{at}] asks the same as [{before}]{against}; leave one of them out (--runs asks every query more often)"
            raise InputError(message, source=file)
    return queries


def prepare_triggers(
    source: Path, neighbours: Sequence[Path], asked: Sequence[Query], agent: Agent, root: Path, *, called: str = "triggers"
) -> PreparedTriggers:
    """Write the agent, with the Agent Skill and its neighbours installed, and a task for each query, unless they are there.

    The id of the agent is that of the Agent Skill, and `called`.

    Raises:
        InputError: a folder is not an Agent Skill, or two have one name.
        UsageError: the model is not told of it at all.
    """
    skill = read_agent_skill(source)
    if (skill.text("disable-model-invocation") or "").lower() == "true":
        raise UsageError(f"{skill.name} is not listed for the model (disable-model-invocation: true), so nothing can trigger it")
    benchmark = _benchmark(skill.name, asked)
    sources = [source, *neighbours]
    made = make_arms(sources, ["with"], agent, benchmark, files_in=[], root=root, called=f"{skill.name}-{called}")
    experiment = TriggerExperiment(
        skill=skill.name,
        neighbours=[name for name in made.names if name != skill.name],
        queries=list(asked),
        runtime=agent.runtime,
        model=agent.model,
    )
    return PreparedTriggers(made.arms["with"], _written(benchmark, root), experiment)


def _benchmark(name: str, queries: Sequence[Query]) -> Benchmark:
    tasks = [
        {
            "id": each.id,
            "description": each.query[:200],
            "inputData": {"prompt": each.query},
            "evaluator": {"type": "skill_loaded", "skill": name, "loaded": each.should_trigger},
            "tags": [SHOULD_TRIGGER if each.should_trigger else "near-miss"],
        }
        for each in queries
    ]
    document = {"id": TRIGGER_QUERIES, "name": f"Triggers of {name}", "version": "1.0.0", "tasks": tasks}
    return Benchmark.model_validate(document)


def _written(benchmark: Benchmark, root: Path) -> Path:
    document = benchmark.to_json()
    file = _tasks_file(root, digest_of_json(document))
    if not file.is_file():
        write_whole(file, json.dumps(document, ensure_ascii=False, indent=2).encode(), mode=PRIVATE)
    return file


def _tasks_file(root: Path, digest: str) -> Path:
    return root / f"triggers-{digest.partition(':')[2]}.json"


def as_evaluation(
    request: EvaluateRequest, prepared: Sequence[PreparedTriggers], *, exit_on_fail: bool = False
) -> EvaluateRequest:
    """The evaluation that asks each of the agents the queries of the first."""
    first = prepared[0]
    experiment = first.experiment.model_copy(update={"exit_on_fail": exit_on_fail}).to_json()
    if len(json.dumps(experiment)) > MAX_NOTED_BYTES:
        experiment["queries"] = []
    said = {name: getattr(request, name) for name in request.model_fields_set}
    own = {"skills": [str(each.folder) for each in prepared], "tasks": str(first.tasks)}
    return EvaluateRequest(**{**said, **own, "provenance": {TRIGGERS: experiment}})


def trigger_experiment_of(store: Store, run_id: str) -> TriggerExperiment:
    """The queries and the agent behind a run.

    Raises:
        UsageError: the run is not one of `triggers`.
        InputError: the file with its queries cannot be read.
    """
    manifest = store.manifest(run_id)
    if (found := trigger_experiment_in(manifest.provenance)) is None:
        raise UsageError(f"run {run_id} asked no queries of an Agent Skill: it was not made by eval-skills triggers")
    return found if found.queries else found.model_copy(update={"queries": _kept_queries(store, manifest)})


def _kept_queries(store: Store, manifest: Manifest) -> list[Query]:
    """The queries of a run that did not note them, from the file of its tasks."""
    with arms_folder(store.path) as root:
        file = _tasks_file(root, manifest.benchmark.digest or "")
    tasks = validate_known(Benchmark, read_document(file), source=file)[0].tasks
    return [
        Query(id=each.id, query=each.input_data["prompt"], should_trigger=SHOULD_TRIGGER in (each.tags or ())) for each in tasks
    ]


def trigger_experiment_in(provenance: Mapping[str, object]) -> TriggerExperiment | None:
    """The queries and the agent behind a run, by the provenance in its manifest; None where it asked none."""
    return validate_known(TriggerExperiment, provenance[TRIGGERS])[0] if TRIGGERS in provenance else None


def triggers_of_reports(
    experiment: TriggerExperiment, reports: Sequence[SkillCompletionReport], run_id: str, *, planned: int = 0
) -> Triggers:
    """The figures that the report of a run shows; `planned` is how often each query was to be asked.

    Raises:
        UsageError: the run compares two descriptions, so that figures of both together would say nothing.
    """
    if len(reports) > 1:
        both = " and ".join(report.skill_key for report in reports)
        raise UsageError(
            f"run {run_id} asked {both} the same queries: --optimize made it to compare two descriptions, and it has no figures "
            "of its own; see its items with eval-skills query"
        )
    return trigger_rates(
        [item for report in reports for item in report.task_results],
        experiment.queries,
        skill=experiment.skill,
        neighbours=experiment.neighbours,
        agent=experiment.runtime,
        model=experiment.model,
        run_id=run_id,
        planned=planned,
    )


def stored_triggers(store: str, given: str) -> tuple[Triggers, list[str]]:
    """The figures that a stored run shows, and remarks about it; `given` is its id, the beginning of it, or ``latest``.

    Raises:
        UsageError: there is no such run, or it asked no queries.
        NoItemsError: it has no items any more.
    """
    run_id = resolve_run_id(Store(store), given, "no queries to show")
    experiment = trigger_experiment_of(Store(store), run_id)
    source = read_source(run_id, store)
    check_items(source, "what was loaded is")
    planned = Store(store).manifest(run_id).planned_items // len(experiment.queries)
    return triggers_of_reports(experiment, source.reports, run_id, planned=planned), source.remarks
