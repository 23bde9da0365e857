"""Scorers by name."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.metadata import entry_points
from inspect import isawaitable
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

from eval_skills.core.errors import InputError
from eval_skills.core.models import SkillResponse
from eval_skills.core.text import nearest
from eval_skills.scorers.judging.budget import questions_so_far
from eval_skills.scorers.options import EXPECTATIONS, IGNORE_EXPECTED_VALUE, Options, options_of
from eval_skills.scorers.score import Score, as_score

ENTRY_POINT_GROUP = "eval_skills.scorers"

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class Scorer(Protocol):
    """Judges one answer. The result is what `score.as_score` takes, or an awaitable of it; None: there was nothing to judge."""

    def score(self, response: SkillResponse) -> Any | Awaitable[Any]:
        """How well the answer did; pure: the same answer gets the same score, and is left as it was."""
        ...


async def score_by(scorer: Scorer, response: SkillResponse, *, in_thread: bool = False) -> Score | None:
    """What the scorer says of the answer, in a thread if it is not asynchronous and the answer is huge; None: nothing.

    Raises:
        InvalidScore: it returned something that is not a score; and whatever it raises itself.
    """
    result = await asyncio.to_thread(scorer.score, response) if in_thread else scorer.score(response)
    return as_score(await result if isawaitable(result) else result)


def asked_a_model(scorer: object, before: int) -> bool:
    """Whether a scorer that asks models did, where `before` questions had been asked; one that is not ours may ask by itself."""
    is_ours = type(scorer).__module__.partition(".")[0] == __name__.partition(".")[0]
    return not is_ours or questions_so_far() > before


def models_of(scorer: Any) -> tuple[str | None, ...]:
    """The judging models that a scorer asks, None being the run's; empty for one that asks none."""
    return tuple(getattr(scorer, "models", ()))


@dataclass(frozen=True, slots=True)
class _FunctionScorer:
    function: Callable[..., Any]
    options: dict[str, Any]

    def score(self, response: SkillResponse) -> Any:
        return self.function(response, **self.options)


@dataclass(frozen=True, slots=True)
class ScorerEntry:
    """A registered scorer: its names, the class or function behind it, the options that a benchmark may write, and the `folder`
    whose files make its verdicts, where that is more than the file that defines it; `own` is the function of the calling program
    that it calls."""

    name: str
    aliases: tuple[str, ...]
    target: Callable[..., Any]
    options: Options
    folder: Path | None = None
    own: Callable[..., Any] | None = None

    def build(self, options: dict[str, Any]) -> Scorer:
        """The scorer with these options, which have been checked."""
        if isinstance(self.target, type):
            built: Scorer = self.target(**options)
            return built
        return _FunctionScorer(self.target, options)


def reads_expected_value(entry: ScorerEntry) -> bool:
    """Whether a task's `expectedOutput` means anything to this scorer. One that is not ours may read it from the task."""
    return not EXPECTATIONS.keys().isdisjoint(entry.options) or (
        "task" in entry.options and entry.name not in IGNORE_EXPECTED_VALUE
    )


_entries: dict[str, ScorerEntry] = {}
_of_the_caller: ContextVar[Mapping[str, ScorerEntry]] = ContextVar("eval_skills_own_scorers", default=MappingProxyType({}))
"""Those that only the current call knows."""


def scorer(name: str, *, aliases: tuple[str, ...] = (), folder: Path | None = None) -> Callable[[Decorated], Decorated]:
    """Register a class or function as the scorer `name`.

    A class is built with the options as keyword arguments and has a method ``score(response)``; a function takes the response
    first and its options as further parameters. Either may be asynchronous. Parameters named `task` or `settings` are filled in
    with the EvalTask and the ScoringSettings; those named like a field of `expectedOutput` are taken from there when
    ``evaluator`` does not give them. Annotations are enforced when a benchmark is loaded. A run records the digest of the file
    that defines the scorer, or where it is given of the `folder` with all that makes the verdicts.

    Raises:
        ValueError: the name or an alias is taken.
    """

    def register(target: Decorated) -> Decorated:
        entry = ScorerEntry(name, tuple(aliases), target, options_of(target), folder)
        for known in (name, *aliases):
            if known in _entries:
                raise ValueError(
                    f"a scorer named {known!r} is registered already ({_entries[known].target!r}); choose another name"
                )
        _entries.update(dict.fromkeys((name, *aliases), entry))
        return target

    return register


def scorer_names() -> tuple[str, ...]:
    """The names of all scorers, plug-ins included, sorted; without aliases."""
    installed = (point.name for point in entry_points(group=ENTRY_POINT_GROUP))
    return tuple(sorted({entry.name for entry in _entries.values()} | {name for name in installed if name not in _entries}))


def find_scorer(name: str) -> ScorerEntry:
    """The scorer of that name or alias; an installed plug-in is loaded on the first request for it.

    Raises:
        InputError: there is none, or the plug-in cannot be loaded.
    """
    if (found := known_scorer(name)) is None:
        names = sorted({*scorer_names(), *(entry.name for entry in _of_the_caller.get().values())})
        raise InputError(f"unknown scorer {name!r}{nearest(name, [*names, *_entries])}; available: {', '.join(names)}")
    return found


def known_scorer(name: str) -> ScorerEntry | None:
    """The scorer that `knowing` names, else `registered_scorer`; raises as that does."""
    return _of_the_caller.get().get(name) or registered_scorer(name)


def registered_scorer(name: str) -> ScorerEntry | None:
    """The registered scorer of that name or alias, or the installed plug-in; None where there is none.

    Raises:
        InputError: the plug-in cannot be loaded.
    """
    if name not in _entries:
        _load_plug_in(name)
    return _entries.get(name)


def name_of_scorer(target: object) -> str | None:
    """The name under which a class or function is registered; None where it is not."""
    return next((entry.name for entry in _entries.values() if entry.target is target), None)


@contextmanager
def knowing(scorers: Mapping[str, ScorerEntry]) -> Iterator[None]:
    """Inside, `find_scorer` knows these, too, and finds them first."""
    token = _of_the_caller.set(scorers)
    try:
        yield
    finally:
        _of_the_caller.reset(token)


def _load_plug_in(name: str) -> None:
    for point in entry_points(group=ENTRY_POINT_GROUP, name=name):
        try:
            loaded = point.load()
        except (ImportError, AttributeError, ValueError) as error:
            raise InputError(
                f"the scorer plug-in {name!r} ({point.value}) cannot be loaded: {error}; reinstall or remove it"
            ) from error
        if name not in _entries and callable(loaded):
            scorer(name)(loaded)
