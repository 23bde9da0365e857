"""Drafts of tasks, and the benchmark that they become."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval_skills.core.documents.loading import validate
from eval_skills.core.models import Benchmark, EvalTask, Skill
from eval_skills.core.text import readable_json
from eval_skills.engine.task_linting.similarity import near_pairs, same
from eval_skills.scaffolding.draft import Draft, write_drafts

_FIRST = ("id", "description", "inputData", "turns", "user")
"""The keys that a reader of the file wants to see first."""

ENVELOPES = ("result", "output", "answer")


def mark(by: str, **facts: Any) -> dict[str, Any]:
    """The metadata of a new task: how it was made (`by`), from what, and that nobody has reviewed it."""
    return {"generated": {"by": by, **{name: fact for name, fact in facts.items() if fact is not None}}, "reviewed": False}


@dataclass(frozen=True, slots=True)
class TaskDraft:
    """A task that nobody has read: the whole of its data but the id, and the start of that (``schema``).

    `lacks` says why nothing is expected of it; empty where something is. `may_be_asked` is false for inputs that the skill has
    to refuse: what a reference skill does with them is not a right answer.
    """

    name: str
    data: Mapping[str, Any]
    lacks: str = ""
    may_be_asked: bool = True

    @property
    def asked(self) -> Any:
        """What the skill is asked."""
        if "turns" in self.data:
            return [turn.get("input") for turn in self.data["turns"]]
        return self.data["user"] if "user" in self.data else self.data["inputData"]


@dataclass(slots=True)
class Made:
    """The drafts of one call, remarks on what was left out, and how many of each reason."""

    drafts: list[TaskDraft] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def add(self, other: Made, limit: int) -> None:
        """Take those of the other's drafts, up to `limit`, that ask something new."""
        known = {same(each.asked) for each in self.drafts}
        fresh = [each for each in other.drafts if same(each.asked) not in known]
        self.drafts += fresh[: max(0, limit)]
        self.remarks += other.remarks


def draft_of(
    by: str, asked: Any, what: str, tags: Sequence[str], expects: Mapping[str, Any] | None, lacks: str = "", **facts: Any
) -> TaskDraft:
    """A draft made `by` schema, store or model; `expects` are the keys of the task that say what is right."""
    note = {"needs": lacks} if lacks else {}
    data = {
        "description": what,
        "inputData": asked,
        **(expects or {}),
        "tags": ["generated", *tags],
        "metadata": mark(by, **facts, **note),
    }
    return TaskDraft(by, data, lacks)


def answer_schema(skill: Skill) -> dict[str, Any] | None:
    """What the output schema says of an answer; None where it says nothing.

    A schema of an object that holds the answer under ``result``, ``output`` or ``answer`` also allows the answer alone: which of
    both a skill returns depends on its adapter.
    """
    schema = skill.output_schema
    if not {key for key in schema if key not in {"title", "description", "$schema"}}:
        return None
    properties = schema.get("properties")
    inner = next((properties[key] for key in ENVELOPES if key in properties), None) if isinstance(properties, dict) else None
    if inner is None or "$ref" in json.dumps(schema):
        return schema
    return {"anyOf": [schema, inner]}


def without_near(drafts: Sequence[TaskDraft]) -> tuple[list[TaskDraft], int]:
    """The drafts without those that ask almost what an earlier one asks, and how many these were."""
    pairs, _ = near_pairs([each.asked for each in drafts], [0] * len(drafts))
    left_out = {later for _, later in pairs}
    return [each for index, each in enumerate(drafts) if index not in left_out], len(left_out)


def benchmark_of(skill: Skill, drafts: Sequence[TaskDraft], how: Mapping[str, Any]) -> Benchmark:
    """The benchmark of these drafts, numbered by what made them; `how` they were made is in its metadata.

    Raises:
        InputError: a draft is not a task; that would be a mistake here.
    """
    counts: dict[str, int] = {}
    tasks = []
    for each in drafts:
        counts[each.name] = counts.get(each.name, 0) + 1
        tasks.append({"id": f"{each.name}-{counts[each.name]:03d}", **each.data})
    content = {
        "id": f"{skill.id}-generated",
        "name": f"{skill.name}: generated tasks",
        "version": "0.1.0",
        "description": f"Drafts for {skill.key}: review them with eval-skills benchmarks review",
        "metadata": {"generated": {"skill": skill.key, **how}},
        "tasks": [validate(EvalTask, task) for task in tasks],
    }
    return validate(Benchmark, content)


def write_benchmark(benchmark: Benchmark, path: Path, *, force: bool) -> None:
    """Write it as JSON, whole or not at all; what its tasks leave to defaults is not written.

    Raises:
        UsageError: the file exists and `force` is not given, or it cannot be written.
    """
    content = benchmark.model_dump(mode="json", by_alias=True, exclude_unset=True)
    content["tasks"] = [{name: task[name] for name in _FIRST if name in task} | task for task in content["tasks"]]
    write_drafts([Draft(path.parent, {path.name: readable_json(content)})], force=force)
