"""What a task (or one turn of it) expects of an answer, as far as that can be scored without a model, a tool or foreign code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from eval_skills.core.errors import InputError
from eval_skills.core.models import Benchmark, EvalTask, Expected, SkillResponse, Thresholds, Verdict
from eval_skills.core.models.evaluators import PlacedEvaluator
from eval_skills.scorers import ScoringSettings, TaskScoring
from eval_skills.scorers.answer import scalar_text

OF_THE_ANSWER = frozenset(
    {"exact_match", "contains", "starts_with", "is_json", "json_schema", "regex", "metrics", "gaia", "levenshtein", "rouge_l",
     "rouge_n", "bleu", "pii", "refusal", "uncertainty", "safety"}
)  # fmt: skip
"""Our scorers whose verdict is on the answer alone; other scorers need tool calls or figures of a call, or are other people's."""

CUSTOM = frozenset({"custom", "python"})

ASKS_A_MODEL = "its evaluator asks a model"
RUNS_CODE = "its evaluator runs custom code"
NEEDS_A_CALL = "its evaluator needs more than an answer: tool calls, latency or the like"
OF_NO_ANSWER = "it says nothing of the answer itself"
NO_ANSWER_KNOWN = "no right answer is written down, only a rule"


class Unchecked(Exception):
    """An expectation cannot be scored here; the text is the reason, the same for all of its sort."""


@dataclass(frozen=True, slots=True)
class Case:
    """An expectation that can be scored. `task` is the id of the whole task, `label` also names the turn."""

    task: str
    label: str
    expects: EvalTask
    scoring: TaskScoring

    @property
    def place(self) -> str:
        """The turn, to begin a message with; empty where the expectation is that of the task."""
        return "" if self.label == self.task else f"{self.label.rpartition(', ')[2]}: "

    async def verdict(self, answer: Any) -> Verdict:
        """What the evaluator says of this answer.

        Raises:
            Unchecked: the evaluator failed.
        """
        verdict = await self.scoring.verdict(SkillResponse(output=answer))
        if verdict.status == "error":
            why = verdict.reasons[0].message if verdict.reasons else "without a reason"
            raise Unchecked(f"its evaluator failed: {why}")
        return verdict


def expectations_of(benchmark: Benchmark) -> Iterator[tuple[str, str, EvalTask]]:
    """The id of each task, a name for the place, and the task; of a conversation the whole and each turn, where they expect
    something."""
    for task in benchmark.tasks:
        if task.lacks_expectation:
            continue
        if task.turns is None:
            yield task.id, task.id, task
            continue
        if not task.expects_nothing:
            yield task.id, task.id, task.of_whole()
        for number, turn in enumerate(task.turns, 1):
            if not turn.expects_nothing:
                yield task.id, f"{task.id}, turn {number}", task.of_turn(turn)


def case_of(task_id: str, label: str, task: EvalTask, settings: ScoringSettings) -> Case:
    """The expectation of a task, reduced to what it says of the answer itself.

    Raises:
        Unchecked: that is nothing, or a model, a tool or foreign code would be needed.
    """
    if task.user is not None:
        raise Unchecked(ASKS_A_MODEL)
    bare = _of_the_answer(task)
    if bare.lacks_expectation:
        raise Unchecked(OF_NO_ANSWER)
    try:
        scoring = TaskScoring(bare, settings.in_folder(task.folder))
    except InputError:  # as written it can be scored, or it would not have been read: without its tools nothing is left
        raise Unchecked(NEEDS_A_CALL) from None
    names = frozenset(scoring.scorers)
    if names & CUSTOM:
        raise Unchecked(RUNS_CODE)
    if scoring.models:
        raise Unchecked(ASKS_A_MODEL)
    if names - OF_THE_ANSWER:
        raise Unchecked(NEEDS_A_CALL)
    if not names and bare.expected is None:
        raise Unchecked(OF_NO_ANSWER)
    return Case(task_id, label, bare, scoring)


def _of_the_answer(task: EvalTask) -> EvalTask:
    """The task without what it expects of tools, time and cost: an answer that nobody gave has none of these."""
    output = task.expected.output if task.expected is not None else None
    says = output is not None and bool(output.contains or output.not_contains)
    score = task.thresholds.min_score if task.thresholds is not None else None
    kept = {
        "expected": Expected(output=output) if output is not None and says else None,
        "thresholds": None if score is None else Thresholds(min_score=score),
        "weights": None,
        "checks": None,
    }
    return task.model_copy(update=kept)


def right_answers(task: EvalTask) -> list[Any]:
    """Answers that are written down as right: the expected value (each one of a list, too), else all keywords together.

    Empty where there is only a rule, such as a pattern.
    """
    if values := _values(task):
        return [each for value in values for each in (value, *(value if isinstance(value, list) else ()))]
    words = _keywords(task)
    return ["\n".join(words)] if words else []


def answer_texts(task: EvalTask) -> list[str]:
    """The scalars among `right_answers` as texts, and each keyword: what an input could give away."""
    scalars = [scalar_text(value) for value in right_answers(task) if isinstance(value, str | int | float)]
    return list(dict.fromkeys([*(_keywords(task) if not _values(task) else ()), *scalars]))


def _values(task: EvalTask) -> list[Any]:
    own = [task.expected_output.value] if task.expected_output is not None and task.expected_output.has_value else []
    return own + [placed.options["value"] for placed in _demands(task) if "value" in placed.options]


def _keywords(task: EvalTask) -> list[str]:
    """The keywords, where one evaluator alone, or none, has a say beside them."""
    if len(task.named_scorers) > 1:
        return []
    own = list(task.expected_output.keywords or ()) if task.expected_output is not None else []
    for placed in _demands(task):
        given = placed.options.get("keywords")
        own += [word for word in given if isinstance(word, str)] if isinstance(given, list) else []
    texts = list(task.expected.output.contains) if task.expected is not None else []
    return [*own, *texts]


def _demands(task: EvalTask) -> list[PlacedEvaluator]:
    return [placed for placed in task.named_scorers if not placed.negated]
