"""A file of generated tasks, from one source or several."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, get_args

from eval_skills.adapters import Confinement, secrets_of
from eval_skills.core.config.judging import JudgeOptions
from eval_skills.core.documents.loading import validate
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import Benchmark, Skill
from eval_skills.core.redaction import Redaction, values_of_variables
from eval_skills.core.skills import SKILL_FILE
from eval_skills.core.store import Store
from eval_skills.engine.task_making.drafts import Made, benchmark_of
from eval_skills.engine.task_making.from_model import made_by_model
from eval_skills.engine.task_making.from_schema import made_from_schema
from eval_skills.engine.task_making.from_store import made_from_store
from eval_skills.engine.task_making.reference import with_reference_answers
from eval_skills.scaffolding.openapi import import_openapi
from eval_skills.scorers.judging import Judges
from eval_skills.scorers.judging.budget import Spending

Source = Literal["schema", "store", "model"]
SOURCES: tuple[Source, ...] = get_args(Source)
MAX_COUNT = 10_000

_ANYWHERE = "http://127.0.0.1"
"""The address of a skill that is made for its schemas alone: a document need not name one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MakingRequest:
    """What is to be made for `skill`: `count` tasks, from each of `sources` a like share.

    `judging` says which model is asked, `reference` which skill answers. `secrets` are names of variables whose values are
    replaced.
    """

    skill: Skill
    count: int
    seed: int = 0
    sources: Sequence[Source] = ("schema",)
    store: Store | None = None
    judging: JudgeOptions = field(default_factory=JudgeOptions)
    reference: Skill | None = None
    timeout_s: float = 30.0
    concurrency: int = 4
    confinement: Confinement = field(default_factory=Confinement)
    secrets: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class MadeBenchmark:
    """The benchmark, remarks on what was left out, and what the model cost; `spent` is None where none was asked."""

    benchmark: Benchmark
    remarks: list[str]
    spent: Spending | None = None


def make_tasks(request: MakingRequest) -> MadeBenchmark:
    """Make the tasks; without a model the same for the same request and store. Nothing is written.

    Raises:
        UsageError: the request makes no sense, or no model is named that could be asked.
        InputError: the skill has no input schema, or nothing could be made.
        JudgeError: the model gave no reply.
    """
    if not 1 <= request.count <= MAX_COUNT:
        raise UsageError(f"--count is {request.count}; give a number of tasks from 1 to {MAX_COUNT:,}")
    judges = Judges(request.judging) if "model" in request.sources else None
    made = asyncio.run(_made(request, judges))
    if not made.drafts:
        raise InputError("; ".join(["no task could be made", *made.remarks]))
    how = {"from": list(request.sources), "seed": request.seed}
    benchmark = benchmark_of(request.skill, made.drafts, how)
    return MadeBenchmark(benchmark, list(dict.fromkeys(made.remarks)), None if judges is None else judges.total)


async def _made(request: MakingRequest, judges: Judges | None) -> Made:
    redaction = Redaction(values_of_variables(request.secrets) | secrets_of(request.skill))
    made = Made()
    try:
        for number, source in enumerate(request.sources):
            share = -(-(request.count - len(made.drafts)) // (len(request.sources) - number))
            made.add(await _from(source, request, share, judges, redaction), share)
    finally:
        if judges is not None:
            await judges.close()
    if request.reference is not None:
        made.drafts, remarks = await with_reference_answers(
            made.drafts, request.reference, timeout_s=request.timeout_s, confinement=request.confinement,
            redaction=redaction, concurrency=request.concurrency,
        )  # fmt: skip
        made.remarks += remarks
    return made


async def _from(source: Source, request: MakingRequest, count: int, judges: Judges | None, redaction: Redaction) -> Made:
    if source == "store":
        if request.store is None:
            raise UsageError("--from store: there is no store; name one with --store, or evaluate something first")
        return made_from_store(request.skill, request.store, count, redaction)
    if source == "model" and judges is not None:
        judges.redaction = redaction
        return await made_by_model(request.skill, count, request.seed, judges, None)
    return made_from_schema(request.skill, count, request.seed)


def skill_of_document(document: Path, operation: str | None) -> Skill:
    """The skill that an operation of an OpenAPI document would become; nothing is written or called.

    Raises:
        UserError: the document cannot be used, it has no such operation, or several and none is named.
    """
    with TemporaryDirectory() as folder:
        drafts = import_openapi(document, Path(folder), operation=operation, base_url=_ANYWHERE).drafts
    if len(drafts) > 1:
        raise UsageError(f"{document} has {len(drafts):,} operations; name one with --operation")
    return validate(Skill, json.loads(drafts[0].files[SKILL_FILE]), source=document)
