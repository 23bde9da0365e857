"""Tasks from what happened: inputs of stored runs and of monitored production, failures first."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval_skills.core.config.judging import ScoringOptions
from eval_skills.core.errors import UserError
from eval_skills.core.fingerprint import canonical_json
from eval_skills.core.models import Benchmark, EvalTask, Skill
from eval_skills.core.models.report import MISSING_KINDS
from eval_skills.core.redaction import Redaction
from eval_skills.core.store import Store
from eval_skills.core.text import excerpt
from eval_skills.engine.definition.benchmark import resolve_benchmark, task_digest
from eval_skills.engine.monitor.samples import PREVIEW_CHARS
from eval_skills.engine.stored_runs.reports import recorded_request
from eval_skills.engine.task_linting.case import CUSTOM
from eval_skills.engine.task_linting.similarity import same
from eval_skills.engine.task_making.drafts import Made, TaskDraft, draft_of, mark
from eval_skills.engine.task_making.from_schema import NO_RIGHT_ANSWER, input_schema
from eval_skills.engine.task_making.schema_values import InputSchema

if TYPE_CHECKING:
    import pandas as pd

_DEFAULT = ScoringOptions.model_fields["evaluator"].default

_COLUMNS = ["run_id", "benchmark_id", "task_id", "task_digest", "passed", "error_kind"]


def made_from_store(skill: Skill, store: Store, count: int, redaction: Redaction) -> Made:
    """At most `count` tasks that the skill (any version) was asked in runs or, as a monitor saw, in production.

    Those that failed come first, the most often failed at the front, then the others; each input once. A task of a run keeps what
    its benchmark expected, and names the evaluator that judged it there by default. A sample of a monitor has no expectation; one
    that was cut in the store, or that does not fit the input schema, is left out and counted.
    """
    past = _Past(store, redaction)
    stored = [*past.of_runs(skill), *past.of_monitors(skill)]
    drafts, seen = list[TaskDraft](), set[str]()
    for _, draft in sorted(stored, key=lambda each: -each[0]):
        if (key := same(draft.asked)) not in seen:
            seen.add(key)
            drafts.append(draft)
    remarks = [f"left out {count:,}: {why}" for why, count in past.left_out.most_common()]
    if not drafts:
        remarks.append(f"the store {store.path} holds no input of {skill.id} that can be a task")
    return Made(drafts[:count], remarks)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a run asked, as it reads today; `evaluator` judged what names none."""

    benchmark: Benchmark
    folder: Path | None
    evaluator: str


@dataclass(slots=True)
class _Past:
    store: Store
    redaction: Redaction
    left_out: Counter[str] = field(default_factory=Counter)
    benchmarks: dict[str, _Asked | None] = field(default_factory=dict)

    def of_runs(self, skill: Skill) -> Iterator[tuple[float, TaskDraft]]:
        """The failures (counted) of each task that was asked, and the task; the same task of several runs once."""
        rows = self.store.items(skill_id=skill.id, columns=_COLUMNS)
        rows = rows[~rows["error_kind"].isin(MISSING_KINDS)]
        for (_, task_id, digest), group in rows.groupby(["benchmark_id", "task_id", "task_digest"], sort=False, dropna=False):
            failed = group[~group["passed"].astype(bool)]
            last = str((failed if len(failed) else group)["run_id"].max())
            if (draft := self._draft(last, str(task_id), digest, len(failed), len(group))) is not None:
                yield len(failed), draft

    def _draft(self, run_id: str, task_id: str, digest: Any, failed: int, items: int) -> TaskDraft | None:
        known = self._asked_by(run_id)
        folder = known.folder if known is not None else None
        task = next((task for task in known.benchmark.tasks if task.id == task_id), None) if known is not None else None
        if task is None or known is None or digest not in (task_digest(task, folder), task_digest(task, None)):
            self.left_out["their benchmark is gone, or was changed since"] += 1
            return None
        if _names_files(task, folder):
            self.left_out["they name files of their benchmark"] += 1
            return None
        written = task.model_dump(mode="json", by_alias=True, exclude_unset=True)
        for each in (written, *(written.get("turns") or ())):
            _name_default(each, known.evaluator)
        data = {name: value for name, value in self.redaction.data(written).items() if name != "id"}
        facts = mark("store", run=run_id, task=f"{known.benchmark.id}/{task_id}", failed=failed, items=items)
        data["metadata"] = {**data.get("metadata", {}), **facts}
        data["tags"] = list(dict.fromkeys(["generated", *data.get("tags", ())]))
        return TaskDraft("store", data if data.keys() & {"turns", "user"} else {"inputData": {}, **data})

    def _asked_by(self, run_id: str) -> _Asked | None:
        """What the run asked; None where that is gone."""
        request = recorded_request(self.store.find_manifest(run_id))
        if request is None:
            return None
        about = {"benchmark", "tasks", "benchmarks_dir", "own_tests", "skills", "map", "evaluator"}
        key = canonical_json(request.model_dump(mode="json", include=about))
        if key not in self.benchmarks:
            try:
                found = resolve_benchmark(request.model_copy(update={"allow_custom_code": True}))
                self.benchmarks[key] = _Asked(*found, request.evaluator)
            except UserError:
                self.benchmarks[key] = None
        return self.benchmarks[key]

    def of_monitors(self, skill: Skill) -> Iterator[tuple[float, TaskDraft]]:
        """Sampled questions: 1 for one that was not answered well, else 0, and the task."""
        samples = self.store.samples()
        schema = input_schema(skill) if skill.input_schema else None
        for _, row in samples[samples["skill_id"].isin([skill.id, skill.key])].iterrows():
            question = str(row["query_preview"] or "")
            if not question.strip() or len(question) >= PREVIEW_CHARS:
                self.left_out["samples whose question is empty, or longer than what a monitor keeps"] += 1
                continue
            asked = self.redaction.data(_asked(question))
            if schema is not None and (asked := _fitting(asked, schema)) is _UNFIT:
                self.left_out["samples that do not fit the input schema"] += 1
                continue
            yield 0.0 if row["passed"] is True or bool(row["passed"]) else 1.0, _sampled(row, asked, question)


def _sampled(row: pd.Series[Any], asked: Any, question: str) -> TaskDraft:
    facts = {"monitor": row["monitor_id"], "interaction": row["interaction_id"], "status": row["status"]}
    return draft_of("store", asked, excerpt(question, 80), ["production"], None, NO_RIGHT_ANSWER, **facts)


def _name_default(written: dict[str, Any], evaluator: str) -> None:
    """Let a task, or a turn, as it is written name the evaluator that judged it by default: a run of the drafts has another."""
    expected = written.get("expectedOutput")
    names_none = written.get("evaluator") is None and written.get("evaluators") is None
    if expected is not None and expected.get("type") is None and names_none and evaluator != _DEFAULT:
        written["expectedOutput"] = {**expected, "type": evaluator}


def _names_files(task: EvalTask, folder: Path | None) -> bool:
    """Whether the task, or a turn, needs files that do not lie beside the new benchmark."""
    turns = [task.of_turn(turn) for turn in task.turns or ()]
    custom = any(placed.type in CUSTOM for each in (task, *turns) for placed in each.named_scorers)
    return custom or task_digest(task, folder) != task_digest(task, None)


_UNFIT = object()


def _asked(question: str) -> Any:
    """The input behind a preview: a monitor writes data as JSON text."""
    try:
        read = json.loads(question)
    except ValueError:
        return question
    return read if isinstance(read, dict | list) else question


def _fitting(asked: Any, schema: InputSchema) -> Any:
    """The input, or, for a text, an object with it in the one text that is required; `_UNFIT` where neither is valid."""
    if schema.objection(asked) is None:
        return asked
    required = schema.node(schema.schema).get("required")
    if isinstance(asked, str) and isinstance(required, list) and len(required) == 1:
        wrapped = {str(required[0]): asked}
        return wrapped if schema.objection(wrapped) is None else _UNFIT
    return _UNFIT
