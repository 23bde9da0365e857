"""People's labels matched with items of a stored run, and with models' verdicts on the same answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from eval_skills.core.errors import InputError
from eval_skills.core.judging.labels import Label
from eval_skills.core.models import Benchmark, ItemResult, Reason
from eval_skills.core.models.result import ERROR_STATUSES, ItemKey
from eval_skills.core.text import nearest, plural
from eval_skills.engine.judging.outcome import was_judged
from eval_skills.scorers.judging.model import JudgeIdentity

NO_MODEL = "its task is not judged by a model"


@dataclass(frozen=True, slots=True)
class JudgedLabel:
    """A label with the model's verdict on its answer; `score` is None without one, for the reason `why`. `judge` judges its task,
    None where no model does."""

    label: Label
    judge: JudgeIdentity | None = None
    score: float | None = None
    passed: bool = False
    why: str = ""

    @classmethod
    def of(
        cls, label: Label, judge: JudgeIdentity, status: str, reasons: Sequence[Reason], score: float | None, passed: bool
    ) -> JudgedLabel:
        """The label of an answer with this result, to a task that `judge` judges."""
        if status in ERROR_STATUSES:
            return cls(label, judge, why="it ended in an error")
        if score is None or not was_judged(status, reasons):
            return cls(label, judge, why="its verdict was known before a model was asked")
        return cls(label, judge, score, passed)


@dataclass(frozen=True, slots=True)
class LabelledAnswers:
    """All labels of a file, and the benchmark that they are about; `digest` is the benchmark's.

    `run_id` is None where the answers were judged now; on `failed` of these the judge failed.
    """

    benchmark: Benchmark
    digest: str
    labels: list[JudgedLabel]
    run_id: str | None = None
    failed: int = 0
    remarks: list[str] = field(default_factory=list)

    @property
    def by_judge(self) -> dict[JudgeIdentity, list[JudgedLabel]]:
        """The labels with a model's verdict, by the judge."""
        found: dict[JudgeIdentity, list[JudgedLabel]] = {}
        for each in self.labels:
            if each.judge is not None and each.score is not None:
                found.setdefault(each.judge, []).append(each)
        return found

    def without_verdict(self, judge: JudgeIdentity) -> int:
        """How many labels are about tasks of this judge and have no verdict of it."""
        return sum(each.judge == judge and each.score is None for each in self.labels)

    @property
    def left_out(self) -> Iterator[str]:
        """How many labels have no verdict, and why."""
        for why, count in Counter(each.why for each in self.labels if each.why).items():
            yield f"{plural(count, 'label')} left out: {why}"


def matched(labels: Sequence[Label], results: Sequence[ItemResult], source: str, run_id: str) -> list[tuple[Label, ItemResult]]:
    """Every label with the one item of the run that it is about; `source` is the file of the labels.

    Raises:
        InputError: a label fits no item or several, or two labels fit one item; the message names the line.
    """
    found_items: list[tuple[Label, ItemResult]] = []
    taken: dict[ItemKey, int] = {}
    by_task: dict[str, list[ItemResult]] = {}
    for item in results:
        by_task.setdefault(item.task_id, []).append(item)
    for label in labels:
        found = [item for item in by_task.get(label.task_id, ()) if _fits(label, item)]
        if len(found) != 1:
            raise InputError(f"line {label.line}: {_not_one(label, found, by_task, run_id)}", source=source)
        if (first := taken.setdefault(found[0].key, label.line)) != label.line:
            raise InputError(f"line {label.line} labels the same item as line {first}; keep one", source=source)
        found_items.append((label, found[0]))
    return found_items


def _fits(label: Label, item: ItemResult) -> bool:
    return (label.run_index is None or label.run_index == item.run_index) and (
        label.skill is None or label.skill in (item.skill_id, item.skill_key)
    )


def _not_one(label: Label, found: Sequence[ItemResult], by_task: Mapping[str, Sequence[ItemResult]], run_id: str) -> str:
    if label.task_id not in by_task:
        return f"run {run_id} has no item of task {label.task_id!r}{nearest(label.task_id, by_task)}"
    if not found:
        return f"run {run_id} has no such item of task {label.task_id!r}; check run_index (which starts at 0) and skill_id"
    columns = ["skill_id"] if len({item.skill_key for item in found}) > 1 else []
    columns += ["run_index"] if len({item.run_index for item in found}) > 1 else []
    return f"it fits {len(found)} items of task {label.task_id!r}; tell them apart with {' and '.join(columns)}"
