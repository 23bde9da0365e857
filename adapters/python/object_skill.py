"""Skills that are objects of this process, known by their names: functions, coroutine functions and runnables."""

from __future__ import annotations

import functools
import inspect
import re
from typing import Any, Literal, Self

from pydantic import PrivateAttr

from eval_skills.adapters.python.host.langchain import takes_config
from eval_skills.core.fingerprint import digest_of_json, source_of
from eval_skills.core.models import Skill

UNVERSIONED = "0.0.0"
"""The version of a skill that is known by its name alone."""


class ObjectSkill(Skill):
    """A skill that is an object of this process; it cannot be written to a file, or called anywhere else."""

    adapter_type: Literal["function", "runnable"]  # type: ignore[assignment] # no skill.json can name these

    _target: Any = PrivateAttr(default=None)

    @property
    def target(self) -> Any:
        """The object itself."""
        return self._target

    @classmethod
    def of(cls, target: Any, name: str | None = None, max_output_bytes: int | None = None) -> Self:
        """The skill that calls `target`, known by `name`, else by the name of the object or of its type.

        Raises:
            InputError: it is a class, or nothing that can be called with an input; the message says what would be valid.
        """
        shown, runnable = name or name_of(target), runnable_of(target)
        skill = cls(
            id=_id_of(shown),
            name=shown,
            version=UNVERSIONED,
            description=(inspect.getdoc(target) or "").partition("\n")[0] if inspect.isroutine(target) else "",
            adapter_type="function" if runnable is None else "runnable",
            entrypoint=f"{getattr(target, '__module__', None) or '__main__'}:{getattr(target, '__qualname__', shown)}",
            adapter_config={} if max_output_bytes is None else {"maxOutputBytes": max_output_bytes},
            metadata={"source": _digest_of_source(target if runnable is None else runnable)},
        )
        skill._target = target
        return skill


def is_runnable(target: Any) -> bool:
    """Whether `target` is called by `ainvoke` or `invoke`, as LangChain's runnables, tools and compiled graphs are.

    So is, to be refused as such, a graph that has not been compiled.
    """
    methods = ("ainvoke", "invoke", *(() if callable(target) else ("compile",)))
    return not isinstance(target, type) and any(has_method(target, each) for each in methods)


def runnable_of(target: Any) -> Any:
    """What is asked where `target` is called as a runnable: itself, or the object whose LangChain method `invoke` or `ainvoke` it
    is; None of anything else."""
    is_method = inspect.ismethod(target) and target.__name__ in ("ainvoke", "invoke") and takes_config(target)
    asked = target.__self__ if is_method else target
    return asked if is_runnable(asked) else None


def has_method(target: Any, name: str) -> bool:
    """Whether the type of `target` has the method: a mock has every attribute that it is asked for."""
    return callable(getattr(type(target), name, None))


def name_of(target: Any) -> str:
    """What a person calls the object: its own name, or that of its type."""
    while isinstance(target, functools.partial):
        target = target.func
    names = (getattr(target, each, None) for each in ("__name__", "name"))
    return next((name for name in names if isinstance(name, str) and name.strip()), type(target).__name__)


def _id_of(name: str) -> str:
    """The name in the letters of an id; one without any of these is told from others by its digest."""
    return re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-") or f"function-{digest_of_json(name)[-8:]}"


def _digest_of_source(target: Any) -> str | None:
    """What tells two functions of one name apart in the store; None where Python does not know the code."""
    source = source_of(target if inspect.isroutine(target) else type(target))
    return None if source is None else digest_of_json(source)
