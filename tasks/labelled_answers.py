"""Labels of people beside what models said of the same answers. Plain: no Prefect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from eval_skills.core.labels import Label
from eval_skills.core.models import Benchmark, Reason
from eval_skills.reporting.figures import plural
from eval_skills.scorers.judging.identity import JudgeIdentity
from eval_skills.tasks.judged_items import was_judged

NO_MODEL = "its task is not judged by a model"


@dataclass(frozen=True, slots=True)
class JudgedLabel:
    """A label with what became of its answer; `score` None: no verdict of a model, for the reason `why`."""

    label: Label
    judge: JudgeIdentity | None = None
    score: float | None = None
    passed: bool = False
    why: str = ""

    @classmethod
    def of(
        cls, label: Label, judge: JudgeIdentity, status: str, reasons: Sequence[Reason], score: float | None, passed: bool
    ) -> JudgedLabel:
        """The label of an answer that this came of, from a task that `judge` judges."""
        if status in ("error", "timeout"):
            return cls(label, why="it ended in an error")
        if score is None or not was_judged(status, reasons):
            return cls(label, why="it failed before a model was asked")
        return cls(label, judge, score, passed)


@dataclass(frozen=True, slots=True)
class LabelledAnswers:
    """All labels of a file, and the benchmark that they are about; `digest` is the benchmark's.

    `run_id` None: the answers were judged for the labels. `failed` of these have no verdict because of the judge.
    """

    benchmark: Benchmark
    digest: str
    labels: list[JudgedLabel]
    run_id: str | None = None
    failed: int = 0
    remarks: list[str] = field(default_factory=list)

    @property
    def by_judge(self) -> dict[JudgeIdentity, list[JudgedLabel]]:
        """Those with a model's verdict."""
        found: dict[JudgeIdentity, list[JudgedLabel]] = {}
        for each in self.labels:
            if each.judge is not None and each.score is not None:
                found.setdefault(each.judge, []).append(each)
        return found

    @property
    def left_out(self) -> Iterator[str]:
        """How many have none, and why."""
        for why, count in Counter(each.why for each in self.labels if each.why).items():
            yield f"{plural(count, 'label')} left out: {why}"
