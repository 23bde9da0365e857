"""Functions of the calling program as scorers."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from eval_skills.core.errors import ScorerError, UsageError
from eval_skills.core.interruption import ctrl_c_behind
from eval_skills.core.models import EvalTask, SkillResponse
from eval_skills.core.threads import CancelledItself, RaisedInThread, in_task, in_thread
from eval_skills.scorers.answer import unwrapped
from eval_skills.scorers.options import Option, Options
from eval_skills.scorers.registry import ScorerEntry
from eval_skills.scorers.score import InvalidScore, Score, as_score

_MOST = 3


def function_scorer(name: str, function: Callable[..., Any]) -> ScorerEntry:
    """A function as the scorer `name`. It is called as ``function(output, expected, task)``, with as many of these as it takes.

    They are the answer (unwrapped, unless the expected value is an object), the expected value or None, and the task as its JSON
    object, all of them copies. It returns what the function of a custom scorer does, or a `Score`. A coroutine function runs on
    the run's event loop, any other in a thread; neither has a time limit.

    Raises:
        UsageError: it cannot be called like this.
    """
    taken = _taken(name, function)

    async def judged(response: SkillResponse, *, task: EvalTask) -> Score:
        expected = task.expected_value
        output = response.output if isinstance(expected, dict) else unwrapped(response.output)
        given = deepcopy((output, expected, task.to_json())[:taken])  # a function may change what it gets
        found = as_score(await _called(name, function, given))
        if found is None:
            raise InvalidScore(f"{name} returned None; return a number, true or false, an object, or a Score")
        return found

    vars(judged)["__wrapped__"] = _code_of(function)  # whose file a run records
    return ScorerEntry(name, (), judged, Options({"task": Option("task", True, EvalTask)}), own=function)


def _code_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that a partial one calls; the class of an object that can be called."""
    bare = function.func if isinstance(function, functools.partial) else function
    return bare if inspect.isroutine(bare) else type(bare)


async def _called(name: str, function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """What the function returns, awaited where that has to be, in a task of its own.

    Raises:
        ScorerError: it raised what would end more than this item, such as SystemExit, or cancelled its task.
        KeyboardInterrupt: the user pressed Ctrl-C where the event loop runs in the main thread.
        Exception: whatever else it raises.
    """
    try:
        return await in_task(_returned(name, function, given))
    except CancelledItself:
        raise ScorerError(f"{name} cancelled the task that it was called in") from None


async def _returned(name: str, function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    try:
        result = function(*given) if _is_coroutine_function(function) else await in_thread(lambda: function(*given))
        return await result if inspect.isawaitable(result) else result
    except RaisedInThread as raised:
        error = raised.error
    except asyncio.CancelledError as ending:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise  # the evaluation ends, and not what the function awaited
        error = ending
    except Exception:
        raise
    except BaseException as ending:  # noqa: BLE001 - anybody's code may raise anything
        if (interrupt := ctrl_c_behind(ending)) is not None:
            raise interrupt from None
        error = ending
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        raise error
    raise ScorerError(f"{name} raised {type(error).__name__}{f': {error}' if str(error) else ''}") from error


def _taken(name: str, function: Callable[..., Any]) -> int:
    """How many of the arguments it takes."""
    valid = "an evaluator is called as function(output, expected, task), with as many of these as it takes"
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise UsageError(f"evaluator {name}: its parameters are not known; {valid}: wrap it in a function") from None
    by_place = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    needed = sum(each.default is each.empty for each in by_place)
    by_name = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY and each.default is each.empty]
    takes_more = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    if by_name or needed > _MOST or not (by_place or takes_more):
        takes = f"needs {', '.join(by_name)} by name" if by_name else f"takes {needed}"
        raise UsageError(f"evaluator {name} {takes}; {valid}")
    return _MOST if takes_more else min(_MOST, len(by_place))


def _is_coroutine_function(function: Callable[..., Any]) -> bool:
    called = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004 - the method
    return inspect.iscoroutinefunction(called)
