"""Evaluators of trajectories: functions of an output and a reference, for scripts, for pytest and for LangSmith."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, Protocol

from eval_skills.core.text import is_long
from eval_skills.scorers.trajectory.arguments import ArgumentsMode, Overrides, rules_of
from eval_skills.scorers.trajectory.comparison import TrajectoryComparison, TrajectoryMode, trajectory_mode
from eval_skills.scorers.trajectory.graph import GraphComparison, read_steps
from eval_skills.scorers.trajectory.messages import OUTPUT, REFERENCE, Trajectory, read_reference, read_trajectory
from eval_skills.scorers.trajectory.results import EvaluatorResult, crash_of, crashed, recorded, result_of

P = ParamSpec("P")

LONG_CHARS = 65_536
"""Asynchronous evaluators compare trajectories beyond this in a thread."""


_NO_OUTPUT = "there is no output: the graph visited nothing, or it crashed"


class Evaluator(Protocol):
    """Judges an output by a reference; LangSmith's `run` says whether the agent crashed, and its other arguments are ignored."""

    def __call__(self, *, outputs: Any, reference_outputs: Any, **ignored: Any) -> EvaluatorResult:
        """The result for one run; neither argument is changed."""
        ...


class AsyncEvaluator(Protocol):
    """An `Evaluator` to await."""

    async def __call__(self, *, outputs: Any, reference_outputs: Any, **ignored: Any) -> EvaluatorResult:
        """The result for one run; neither argument is changed."""
        ...


def create_trajectory_match_evaluator(
    *,
    trajectory_match_mode: TrajectoryMode = "strict",
    tool_args_match_mode: ArgumentsMode = "exact",
    tool_args_match_overrides: Overrides | None = None,
    deep: bool = False,
    metadata: bool = True,
) -> Evaluator:
    """An evaluator that compares the messages of an agent's run with a reference.

    `trajectory_match_mode` is that of `TrajectoryComparison`, `tool_args_match_mode` how arguments are compared (`ByMode`), and
    `tool_args_match_overrides` rules single tools by name: a mode, a list of key paths that alone count, or a function of
    (output's arguments, reference's arguments). With `deep` the modes subset and superset reach into nested objects. See
    `read_trajectory` for what `outputs` and `reference_outputs` may be; its result is an `EvaluatorResult` under the key
    ``trajectory_<mode>_match``, whose metadata is None where `metadata` is false. An output's call whose arguments are not a JSON
    object matches only where arguments are ignored.

    A run that LangSmith says ended in an error matches nothing, whatever its output. Without such a run None is an empty
    trajectory, which `subset` accepts. A reference without calls and an override for a tool that it does not call are accepted:
    one evaluator judges many references. Benchmarks refuse both.

    Raises:
        ValueError: here for an unknown mode or an invalid override; from the evaluator for what is not a trajectory, and for a
            reference that holds unreadable arguments.
        ScorerError: from the evaluator, when a function of the overrides failed.
    """
    comparison = TrajectoryComparison(
        trajectory_mode(trajectory_match_mode), rules_of(tool_args_match_mode, tool_args_match_overrides, deep=deep)
    )
    return evaluator_of_messages(comparison, f"trajectory_{comparison.mode}_match", metadata=metadata)


def evaluator_of_messages(comparison: TrajectoryComparison, key: str, *, metadata: bool = True) -> Evaluator:
    """The evaluator that compares so, with results under this key; see `create_trajectory_match_evaluator`."""

    def compared(outputs: Any, reference_outputs: Any, crash: str | None) -> EvaluatorResult:
        reference = read_reference(reference_outputs)
        if crash is not None:
            return crashed(key, comparison.compare(Trajectory([], []), reference), crash)
        return result_of(key, comparison.compare(read_trajectory(outputs), reference))

    return _evaluator(key, compared, metadata)


def create_graph_trajectory_match_evaluator(
    *, trajectory_match_mode: TrajectoryMode = "strict", metadata: bool = True
) -> Evaluator:
    """An evaluator that compares the nodes that a graph visited with a reference; see `GraphComparison` and `read_steps`.

    The key is ``graph_trajectory_<mode>_match``; metadata is None where `metadata` is false. No output at all (None), or a run
    that LangSmith says ended in an error, matches nothing, in any mode; a graph that visited no node is an empty list.

    Raises:
        ValueError: here for an unknown mode; from the evaluator for what is not a list of steps.
    """
    comparison = GraphComparison(trajectory_mode(trajectory_match_mode))

    def compared(outputs: Any, reference_outputs: Any, crash: str | None) -> EvaluatorResult:
        reference = read_steps(reference_outputs, REFERENCE)
        if crash is not None or outputs is None:
            return crashed(key, comparison.compare([], reference), crash or _NO_OUTPUT)
        return result_of(key, comparison.compare(read_steps(outputs, OUTPUT), reference))

    key = f"graph_trajectory_{comparison.mode}_match"
    return _evaluator(key, compared, metadata)


def _evaluator(key: str, compared: Callable[[Any, Any, str | None], EvaluatorResult], metadata: bool) -> Evaluator:
    # LangSmith looks at the names of the arguments, and gives a run where one is called so
    def evaluate(*, outputs: Any, reference_outputs: Any, run: Any = None, **ignored: Any) -> EvaluatorResult:
        result = recorded(key, lambda: compared(outputs, reference_outputs, crash_of(run)))
        return result if metadata else {**result, "metadata": None}

    evaluate.__name__ = evaluate.__qualname__ = key  # how LangSmith names its column
    return evaluate


def _asynchronous(name: str, factory: Callable[P, Evaluator]) -> Callable[P, AsyncEvaluator]:
    """The factory `name`, which differs from `factory` in that its evaluators are awaited."""

    @wraps(factory)
    def create(*args: P.args, **options: P.kwargs) -> AsyncEvaluator:
        evaluator = factory(*args, **options)

        async def evaluate(*, outputs: Any, reference_outputs: Any, run: Any = None, **ignored: Any) -> EvaluatorResult:
            if is_long((outputs, reference_outputs), LONG_CHARS):  # else nothing on the loop would go on
                return await asyncio.to_thread(evaluator, outputs=outputs, reference_outputs=reference_outputs, run=run)
            return evaluator(outputs=outputs, reference_outputs=reference_outputs, run=run)

        evaluate.__name__ = evaluate.__qualname__ = getattr(evaluator, "__name__", name)
        return evaluate

    create.__dict__["__signature__"] = signature(factory).replace(return_annotation="AsyncEvaluator")
    create.__name__ = create.__qualname__ = name
    return create


create_async_trajectory_match_evaluator = _asynchronous(
    "create_async_trajectory_match_evaluator", create_trajectory_match_evaluator
)
create_async_graph_trajectory_match_evaluator = _asynchronous(
    "create_async_graph_trajectory_match_evaluator", create_graph_trajectory_match_evaluator
)
