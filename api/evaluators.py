"""Functions that a Python caller gives as evaluators, known by their names as long as the call lasts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from eval_skills.api.options import asking
from eval_skills.core.config.values import LOCAL
from eval_skills.core.errors import UsageError
from eval_skills.scorers.custom.function import function_scorer
from eval_skills.scorers.registry import ScorerEntry, knowing, name_of_scorer, registered_scorer


@dataclass(slots=True)
class OwnEvaluators:
    """The functions of one call, by the names that reports have for them."""

    entries: dict[str, ScorerEntry] = field(default_factory=dict)
    _functions: dict[str, Callable[..., Any]] = field(default_factory=dict)

    def named(self, given: Any, place: str = "evaluator") -> Any:
        """The name of a function, which is an evaluator from now on; anything else as it is.

        What is registered with `scorers.scorer`, a function or a class, has its name from there.

        Raises:
            UsageError: it cannot be called as an evaluator, or its name is that of another one.
        """
        if not callable(given):
            return given
        if (registered := name_of_scorer(given)) is not None:
            return registered
        if isinstance(given, type):
            raise UsageError(f"{place} is the class {given.__name__}; give an instance of it, or a function")
        name = self._name_of(given)
        is_taken = registered_scorer(name) is not None
        if is_taken or self._functions.get(name, given) is not given:
            whose = "a scorer" if is_taken else "another function that judges here"
            raise UsageError(f"{place}: {name} is the name of {whose}, too; rename the function")
        if name not in self.entries:
            self.entries[name], self._functions[name] = function_scorer(name, given), given
        return name

    def in_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options of a call with the name of a function in place of the function.

        Raises:
            UsageError: the evaluator of the call is neither a name nor a function.
        """
        if (given := options.get("evaluator")) is None:
            return dict(options)
        with asking(given, "evaluator"):
            return {**options, "evaluator": self._name_for_all(given)}

    def _name_for_all(self, given: Any) -> str:
        if not isinstance(named := self.named(given), str):
            raise UsageError(
                "evaluator: give the name of a scorer, such as contains, or a function; one with options, and several, belong to "
                f"a task (evaluator={{…}}, evaluators=[…]); got {given!r}"
            )
        return named

    def refuse_elsewhere(self, task_runner: str) -> None:
        """Refuse a task runner that judges in other processes, which do not have these functions.

        Raises:
            UsageError: that is so.
        """
        if self.entries and task_runner != LOCAL:
            name = next(iter(self.entries))
            raise UsageError(f"evaluator {name} is an object of this process, and task_runner {task_runner} judges in others")

    @contextmanager
    def known(self) -> Iterator[None]:
        """Inside, tasks may name them."""
        with knowing(self.entries):
            yield

    def _name_of(self, given: Any) -> str:
        bare = given.func if isinstance(given, functools.partial) else given
        name = str(getattr(bare, "__name__", type(bare).__name__))
        if name != "<lambda>":
            return name
        known = next((name for name, function in self._functions.items() if function is given), None)
        lambdas = sum(each.startswith("lambda") for each in self._functions)
        return known or (f"lambda-{lambdas + 1}" if lambdas else "lambda")
