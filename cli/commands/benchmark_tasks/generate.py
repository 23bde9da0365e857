"""``eval-skills benchmarks generate``: drafts of tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from eval_skills.cli.commands.benchmark_tasks.lint import past_store
from eval_skills.cli.configuration import KeyOf, Mark
from eval_skills.cli.context import current
from eval_skills.cli.options import HOW, JUDGED, RESULTS, PastResults, option, whole
from eval_skills.cli.requests import flags_of, typed
from eval_skills.core.errors import JudgeError, RunError, UsageError
from eval_skills.core.text import nearest

if TYPE_CHECKING:
    from eval_skills.core.models import Skill
    from eval_skills.engine.task_making.making import Source

MADE = Group("What is made", sort_key=1)


def generate_command(
    *,
    output: Annotated[
        Path,
        Parameter(group=RESULTS, name=["-o", "--output"], help="File of the new benchmark, such as drafts.json"),
    ],
    skill: Annotated[
        Path | None, Mark.PATH, Parameter(group=MADE, help="Folder of the skill, or its skill.json [required without --openapi]")
    ] = None,
    openapi: Annotated[
        Path | None, Mark.PATH, Parameter(group=MADE, help="In place of a skill: an OpenAPI 3 document, for its schemas")
    ] = None,
    operation: Annotated[
        str | None, Parameter(group=MADE, help="With --openapi: which one, by operationId or as 'GET /pets'")
    ] = None,
    from_: Annotated[
        list[str] | None,
        Parameter(
            group=MADE, name="--from", consume_multiple=1, help="Where inputs come from: schema store model [default: schema]"
        ),
    ] = None,
    count: Annotated[int, Parameter(group=MADE, converter=whole, help="How many tasks, at most")] = 30,
    seed: Annotated[int, Parameter(group=MADE, converter=whole, help="The same seed makes the same tasks")] = 0,
    reference: Annotated[
        Path | None, Mark.PATH, Parameter(group=MADE, help="Skill whose answers are written down as the expected ones")
    ] = None,
    model: Annotated[
        str | None,
        KeyOf(("llm", "model")),
        Parameter(group=JUDGED, help="Model that thinks up inputs, as PROVIDER/MODEL; makes --from model the default"),
    ] = None,
    max_judge_cost: Annotated[float | None, option("max_judge_cost", JUDGED, help="USD that asking the model may cost")] = None,
    no_judge_cache: Annotated[
        bool | None, option("no_judge_cache", JUDGED, help="Ask again what the model has answered before, and keep nothing")
    ] = None,
    timeout: Annotated[int | None, option("timeout_ms", HOW, help="Limit of one answer of the reference in ms")] = None,
    force: Annotated[bool, Parameter(group=RESULTS, help="Overwrite the file if it is there", show_default=False)] = False,
    store: PastResults = None,
) -> int:
    """Make drafts of tasks for a skill: from its schemas, from what it was asked before, or by a model.

    From the input schema come the edges: boundaries, choices, keys left out, unusual, empty and long texts, and invalid values.
    From the store come the inputs that failed, in runs and in monitored production. Every draft is marked as generated and not
    reviewed; reports say so. Drafts without an expectation are refused by eval until they are reviewed.

    Example: eval-skills benchmarks generate --skill weather -o drafts.json

    Example: eval-skills benchmarks generate --skill w -o again.json --from store

    Example: eval-skills benchmarks generate --skill w -o c.json --model openai/a
    """
    from eval_skills.adapters import Confinement
    from eval_skills.cli.output.benchmark_tasks import show_made
    from eval_skills.core.config.judging import JudgeOptions
    from eval_skills.core.config.values import ProcessLimits
    from eval_skills.core.skills import load_skill
    from eval_skills.engine.task_making.drafts import write_benchmark
    from eval_skills.engine.task_making.making import MakingRequest, make_tasks

    _check_file(output, force=force)
    named = {} if model is None else {"llm": {"model": model}}
    flags = flags_of(max_judge_cost=max_judge_cost, no_judge_cache=no_judge_cache, timeout=timeout) | named
    config = current().config(flags)
    sources = _sources(from_, by_model=bool(typed({"model": model}).get("model")))
    request = MakingRequest(
        skill=_skill(skill, openapi, operation),
        count=count,
        seed=seed,
        sources=sources,
        store=past_store(store) if "store" in sources else None,
        judging=JudgeOptions(**config.judge_options()),  # type: ignore[arg-type] # they are its own fields
        reference=None if reference is None else load_skill(reference),
        timeout_s=config.timeout_ms / 1000,
        concurrency=config.concurrency,
        confinement=Confinement(**{name: getattr(config, name) for name in ProcessLimits.model_fields}),
        secrets=config.secrets,
    )
    try:
        made = make_tasks(request)
    except JudgeError as error:
        raise RunError(f"nothing was written: {error}") from None
    write_benchmark(made.benchmark, output, force=force)
    show_made(made, output)
    return 0


def _check_file(output: Path, *, force: bool) -> None:
    """Refuse before a model is paid for it."""
    if output.suffix.lower() != ".json":
        raise UsageError(f"--output {output}: a benchmark is written as JSON; give a name that ends in .json")
    if output.exists() and not force:
        raise UsageError(f"{output} exists; give another name, or --force to overwrite it")


def _sources(given: list[str] | None, *, by_model: bool) -> list[Source]:
    from eval_skills.engine.task_making.making import SOURCES

    known: dict[str, Source] = {source: source for source in SOURCES}
    if unknown := next((name for name in given or () if name not in known), None):
        raise UsageError(f"--from {unknown!r} is unknown{nearest(unknown, known)}; known are {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(given or (["model"] if by_model else ["schema"]))]


def _skill(skill: Path | None, openapi: Path | None, operation: str | None) -> Skill:
    from eval_skills.core.skills import load_skill
    from eval_skills.engine.task_making.making import skill_of_document

    if (skill is None) == (openapi is None):
        raise UsageError("name what the tasks are for: a skill's folder with --skill, or a document with --openapi")
    if skill is not None:
        if operation is not None:
            raise UsageError("--operation is about an OpenAPI document; name it with --openapi")
        return load_skill(skill)
    assert openapi is not None
    return skill_of_document(openapi, operation)
