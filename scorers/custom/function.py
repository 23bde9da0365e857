"""Functions of the calling program as scorers."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Self

from eval_skills.core.errors import ScorerError, UsageError
from eval_skills.core.interruption import ctrl_c_behind
from eval_skills.core.models import EvalTask, SkillResponse
from eval_skills.core.threads import CancelledItself, RaisedInThread, in_task, in_thread
from eval_skills.scorers.answer import unwrapped
from eval_skills.scorers.options import Option, Options
from eval_skills.scorers.registry import ScorerEntry
from eval_skills.scorers.score import InvalidScore, Score, as_score

GIVEN = ("output", "expected", "task")

_ALSO = {"outputs": "output", "reference_outputs": "expected", "inputs": "inputs", "input": "inputs"}
"""What evaluators of LangSmith, openevals and autoevals call what they are given; ``inputs`` are those of the task."""

_FEEDBACK = {"key", "score", "comment", "metadata"}
"""The keys of what they return."""


def function_scorer(name: str, function: Callable[..., Any]) -> ScorerEntry:
    """A function as the scorer `name`. It is called as ``function(output, expected, task)``, with as many of these as it takes:
    parameters of these names get what they are called, whatever their order, other required ones what is left, in this order, and
    other optional ones keep their defaults. The names that LangSmith has for them (`_ALSO`) mean the same.

    They are the answer (unwrapped, unless the expected value is an object), the expected value or None, and the task as its JSON
    object, all of them copies. It returns what the function of a custom scorer does, or a `Score`. A coroutine function runs on
    the run's event loop, any other in a thread; neither has a time limit.

    Raises:
        UsageError: it cannot be called like this.
    """
    arguments = _Arguments.of(name, function)

    async def judged(response: SkillResponse, *, task: EvalTask) -> Score:
        expected = task.expected_value
        output = response.output if isinstance(expected, dict) else unwrapped(response.output)
        given = {"output": output, "expected": expected, "task": task.to_json(), "inputs": task.input_data}
        args, options = arguments.filled_with(deepcopy(given))  # a function may change what it gets
        found = as_score(_as_ours(await _called(name, functools.partial(function, *args, **options))))
        if found is None:
            raise InvalidScore(f"{name} returned None; return a number, true or false, an object, or a Score")
        return found

    vars(judged)["__wrapped__"] = _code_of(function)  # whose file a run records
    return ScorerEntry(name, (), judged, Options({"task": Option("task", True, EvalTask)}), own=function)


def _as_ours(result: object) -> object:
    """Feedback of LangSmith as an object of ours: its comment is the reason; its key is left out, as the function has a name."""
    if not isinstance(result, Mapping) or "key" not in result or not result.keys() <= _FEEDBACK:
        return result
    return {"score": result.get("score"), "reason": result.get("comment")}


def _code_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that a partial one calls; the class of an object that can be called."""
    bare = function.func if isinstance(function, functools.partial) else function
    return bare if inspect.isroutine(bare) else type(bare)


async def _called(name: str, function: functools.partial[Any]) -> Any:
    """What the function returns, which has its arguments, awaited where that has to be, in a task of its own.

    Raises:
        ScorerError: it raised what would end more than this item, such as SystemExit, or cancelled its task.
        KeyboardInterrupt: the user pressed Ctrl-C where the event loop runs in the main thread.
        Exception: whatever else it raises.
    """
    try:
        return await in_task(_returned(name, function))
    except CancelledItself:
        raise ScorerError(f"{name} cancelled the task that it was called in") from None


async def _returned(name: str, function: functools.partial[Any]) -> Any:
    try:
        result = function() if _is_coroutine_function(function.func) else await in_thread(function)
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


@dataclass(frozen=True, slots=True)
class _Arguments:
    """How a function with these `parameters` is called: `filled` says what a parameter gets, by its name."""

    parameters: tuple[inspect.Parameter, ...]
    filled: Mapping[str, str]

    @classmethod
    def of(cls, name: str, function: Callable[..., Any]) -> Self:
        """The arguments that it takes.

        Raises:
            UsageError: it needs others, or takes none.
        """
        valid = "an evaluator is called as function(output, expected, task), with as many of these as it takes"
        try:
            parameters = tuple(inspect.signature(function).parameters.values())
        except Exception:  # noqa: BLE001 - there is none, or an object's own code failed: its `__eq__` is asked
            raise UsageError(f"evaluator {name}: its parameters are not known; {valid}: wrap it in a function") from None
        fixed = function.keywords if isinstance(function, functools.partial) else {}
        single = [each for each in parameters if each.kind not in _ANY_NUMBER and each.name not in fixed]
        known = {**dict(zip(GIVEN, GIVEN, strict=True)), **_ALSO}
        named = {each.name: known[each.name] for each in single if each.name in known}
        others = [each for each in single if each.name not in named and each.default is each.empty]
        left = [each for each in GIVEN if each not in named.values()]
        by_name = [each.name for each in others if each.kind is each.KEYWORD_ONLY]
        takes_more = any(each.kind is each.VAR_POSITIONAL for each in parameters)
        if by_name or len(others) > len(left) or not (named or others or takes_more):
            takes = f"needs {', '.join(by_name)} by name" if by_name else f"takes {len(named) + len(others)}"
            raise UsageError(f"evaluator {name} {takes}; {valid}")
        return cls(parameters, named | dict(zip((each.name for each in others), left, strict=False)))

    def filled_with(self, given: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """What to call it with: by place as far as that goes, the rest by name."""
        args, options, skipped = list[Any](), dict[str, Any](), False
        takes_more = any(each.kind is each.VAR_POSITIONAL for each in self.parameters)
        for each in self.parameters:
            if each.kind is each.VAR_POSITIONAL:
                args += [given[name] for name in GIVEN if name not in self.filled.values()]
            elif each.name in self.filled:
                value = given[self.filled[each.name]]
                if skipped or each.kind is each.KEYWORD_ONLY:
                    options[each.name] = value
                else:
                    args.append(value)
            elif each.kind is each.POSITIONAL_ONLY or (takes_more and each.kind is each.POSITIONAL_OR_KEYWORD):
                args.append(each.default)  # what follows has to be given by place
            else:
                skipped = True
        return args, options


_ANY_NUMBER = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _is_coroutine_function(function: Callable[..., Any]) -> bool:
    called = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004 - the method
    return inspect.iscoroutinefunction(called)
