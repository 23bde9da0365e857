"""What is asked of a skill and what is expected of its answer: a task, and a benchmark of tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self, get_args

from pydantic import Field, ModelWrapValidatorHandler, PrivateAttr, model_validator

from eval_skills.core.models.base import Complexity, Identifier, Model, SemVer, Text
from eval_skills.core.models.conversation import MAX_TURNS, Turn
from eval_skills.core.models.expectation import Expecting
from eval_skills.core.models.simulated_user import SimulatedUser

COMPLEXITIES: tuple[str, ...] = get_args(Complexity)

MAX_LEVELS = 200
"""Pydantic writes no more than 255 levels, and a task is written as a part of others; answers may have as many as this."""


class EvalTask(Expecting):
    """One question of a benchmark, or a conversation of several `turns`, of which a session of the skill is asked one after the
    other. What a task of turns expects itself, it expects of the whole conversation; its `timeout_ms` holds for each turn.
    With `user` a model writes what the skill is told, turn by turn.

    `weight` counts in `weighted_mean`; `timeout_ms` beats the run's timeout. `folder` is where the files that it names lie; None
    where that is the folder of its benchmark.
    """

    id: Text
    description: str = ""
    input_data: Any = Field(default_factory=dict)
    turns: list[Turn] | None = Field(
        default=None, min_length=1, max_length=MAX_TURNS, exclude_if=lambda turns: turns is None
    )  # not in the JSON of other tasks: their digests are older than turns
    user: SimulatedUser | None = Field(default=None, exclude_if=lambda user: user is None)
    tags: list[str] = Field(default_factory=list)
    weight: float = Field(default=1.0, ge=0, le=1e9)
    metadata: dict[str, Any] = Field(default_factory=dict)
    complexity: Complexity | None = None

    _folder: Path | None = PrivateAttr(default=None)
    _goal: str | None = PrivateAttr(default=None)

    @property
    def folder(self) -> Path | None:
        """The folder of its own files, where it is not that of its benchmark."""
        return self._folder

    def placed(self, task_id: str, folder: Path) -> EvalTask:
        """The same task under another id, whose files lie in `folder`."""
        placed = self.model_copy(update={"id": task_id})
        placed._folder = folder
        return placed

    def of_turn(self, turn: Turn) -> EvalTask:
        """One of its turns as a task, with the id and the files of the whole."""
        own = {name: getattr(turn, name) for name in Expecting.model_fields}
        return self.model_copy(update={**own, "input_data": turn.input, "turns": None})

    def of_whole(self) -> EvalTask:
        """What the task itself expects of its conversation, as a task with the id and the files of the whole."""
        whole = self.model_copy(update={"input_data": self.asked, "turns": None, "user": None})
        whole._goal = self.goal
        return whole

    @property
    def is_conversation(self) -> bool:
        """Whether the skill is asked several things, one after the other."""
        return self.turns is not None or self.user is not None

    @property
    def goal(self) -> str | None:
        """What its simulated user wants to reach; None without one."""
        return self._goal if self.user is None else self.user.goal

    @property
    def asked(self) -> Any:
        """What the skill is asked: the input, or the inputs of the turns, or what the simulated user wants of it."""
        if self.user is not None:
            return {"user": self.user.model_dump(mode="json", include={"goal", "persona", "opening"}, exclude_none=True)}
        return self.input_data if self.turns is None else {"turns": [turn.input for turn in self.turns]}

    @property
    def is_unreviewed(self) -> bool:
        """Whether a program made it (``metadata.generated``) and nobody has accepted it (``metadata.reviewed``) since."""
        return isinstance(self.metadata.get("generated"), dict) and self.metadata.get("reviewed") is not True

    @property
    def lacks_expectation(self) -> bool:
        """Whether nothing at all is expected, which only an unreviewed task may say: it is a draft that cannot be run."""
        if self.user is not None:  # the conversation is judged by the user's goal
            return False
        return self.expects_nothing and all(turn.expects_nothing for turn in self.turns or ())

    @model_validator(mode="wrap")
    @classmethod
    def _is_not_too_deep(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        task, level = handler(data), _inside(data)  # what is wrong in one place is said first
        for _ in range(MAX_LEVELS):
            if not level:
                return task
            level = [child for node in level for child in _inside(node)]
        raise ValueError(f"nested deeper than {MAX_LEVELS} levels, which no report could hold; give the deep part as text")

    @model_validator(mode="after")
    def _expects_something(self) -> EvalTask:
        if self.lacks_expectation and not self.is_unreviewed:
            what = "the answer" if self.turns is None else "any turn, nor of the whole conversation"
            raise ValueError(f"nothing is expected of {what}; give expectedOutput, evaluator, expected, checks or thresholds")
        return self

    @model_validator(mode="after")
    def _is_asked_one_thing(self) -> EvalTask:
        if self.user is not None and (other := "turns" if self.turns is not None else self._written_input):
            raise ValueError(f"user and {other} exclude each other: the simulated user writes what the skill is told; keep one")
        if self.turns is not None and "input_data" in self.model_fields_set:
            raise ValueError("a task with turns has no inputData of its own; give each turn its input")
        return self

    @property
    def _written_input(self) -> str | None:
        return "inputData" if "input_data" in self.model_fields_set else None


def _inside(node: Any) -> list[Any]:
    """The objects and lists in an object or a list."""
    parts = node.values() if isinstance(node, dict) else node if isinstance(node, _LISTS) else ()
    return [part for part in parts if isinstance(part, _NESTED)]


_LISTS = (list, tuple)
_NESTED = (dict, *_LISTS)


ScoringMethod = Literal["mean", "weighted_mean", "pass_at_k"]
Subject = Literal["call", "package", "agent-skill"]


OWN_TESTS = "own-tests"
"""The id of the benchmark that asks every skill its own tests. Its skills have no task in common, so they are not ranked."""


TRIGGER_QUERIES = "triggers"
"""The id of the benchmark that asks an agent queries, to see whether it loads an Agent Skill."""


class Benchmark(Model):
    """A set of tasks. `subject` says what is judged: the skill's answers (`call`), its own folder (`package`), or the
    ``SKILL.md`` in it with all that lies beside it (`agent-skill`).

    `k` is the k of pass@k and pass^k; `max_latency_ms` scales latency in the composite score (absent: the run's timeout).
    An empty task list is a valid value here, and refused where a benchmark is loaded to be run.
    Where every skill has tasks of its own, it is made of parts, one for each skill (see `of_parts`).
    """

    id: Identifier
    name: Text
    version: SemVer
    description: str = ""
    domain: str = "general"
    scoring_method: ScoringMethod = "mean"
    k: int = Field(default=1, ge=1)
    max_latency_ms: float | None = Field(default=None, gt=0)
    subject: Subject = "call"
    metadata: dict[str, Any] = Field(default_factory=dict)
    tasks: list[EvalTask]

    _parts: dict[str, Benchmark] = PrivateAttr(default_factory=dict)

    @property
    def parts(self) -> Mapping[str, Benchmark]:
        """What each skill is asked, by ``id@version``; empty where all are asked the same."""
        return self._parts

    def part_of(self, skill_key: str) -> Benchmark:
        """What this skill is asked: its part, or all of the benchmark where that has no parts."""
        return self._parts.get(skill_key, self)

    def of_parts(self, parts: Mapping[str, Benchmark]) -> Benchmark:
        """The same benchmark, with the tasks of `parts` in their order: each skill (``id@version``) is asked its part alone.

        Ids of tasks must differ between the parts.
        """
        made = self.model_copy(update={"tasks": [task for part in parts.values() for task in part.tasks]})
        made._parts = dict(parts)
        return made

    @model_validator(mode="after")
    def _tasks_are_distinct_and_weigh_something(self) -> Benchmark:
        twice = [task_id for task_id, count in Counter(task.id for task in self.tasks).items() if count > 1]
        if twice:
            raise ValueError(
                f"task id {twice[0]!r} is used {sum(task.id == twice[0] for task in self.tasks)} times; make it unique"
            )
        if self.scoring_method == "weighted_mean" and self.tasks and not any(task.weight for task in self.tasks):
            raise ValueError("scoringMethod is weighted_mean and every weight is 0; give at least one task a weight above 0")
        return self
