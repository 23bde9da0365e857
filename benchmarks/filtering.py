"""Narrowing a benchmark to some of its tasks: by tags, by complexity, or by the value of any field."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import Benchmark, EvalTask
from eval_skills.core.models.task import COMPLEXITIES
from eval_skills.core.text import nearest

_SHOWN_VALUES = 10


def filter_tasks(
    benchmark: Benchmark, tags: Sequence[str] = (), complexity: Sequence[str] = (), fields: Sequence[str] = ()
) -> Benchmark:
    """The benchmark with only the tasks that have all of `tags`, one of the complexities, and the value of each of `fields`.

    A field is asked for as ``KEY=VALUE``, several also as ``KEY=VALUE,KEY=VALUE``; KEY has dots for nested ones:
    ``metadata.level=2``, ``inputData.operation=reverse``. A name that is not a field is looked for in the
    metadata: ``owner=ann``.
    A list has the value where an entry of it is equal; 2 is equal to the text ``2``. Nothing given keeps every task.

    Raises:
        InputError: no task is left, or none has the field; the message lists what there is.
        UsageError: a field is not KEY=VALUE.
    """
    tagged = [task for task in benchmark.tasks if set(tags) <= set(task.tags)]
    if not tagged:
        raise _without_tags(benchmark, tags)
    kept = [task for task in tagged if not complexity or task.complexity in complexity]
    if not kept:
        raise _without_complexity(benchmark, tagged, tags, complexity)
    for field in (each for given in fields for each in _BETWEEN_FIELDS.split(given)):
        kept = _with_value(benchmark, kept, field)
    return benchmark if len(kept) == len(benchmark.tasks) else benchmark.model_copy(update={"tasks": kept})


def count_complexity(tasks: Iterable[EvalTask]) -> dict[str | None, int]:
    """How many of the tasks are of each complexity, from simple on; those that say none are under None, and come last."""
    counts: Counter[str | None] = Counter(task.complexity for task in tasks)
    return {name: counts[name] for name in (*COMPLEXITIES, None) if counts[name]}


def count_tags(tasks: Iterable[EvalTask]) -> dict[str, int]:
    """How many of the tasks have each tag, by its name."""
    return dict(sorted(Counter(tag for task in tasks for tag in set(task.tags)).items()))


_BETWEEN_FIELDS = re.compile(r",(?=\s*[\w.-]+\s*=)")
"""A comma that stands in a value is not followed by another KEY=."""


def _with_value(benchmark: Benchmark, tasks: Sequence[EvalTask], field: str) -> list[EvalTask]:
    key, equals, wanted = field.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"--filter {field!r} is not KEY=VALUE, such as complexity=simple or metadata.level=2")
    there = [(task, value) for task in tasks for value in _values_of(task, key.strip())]
    kept = dict.fromkeys(id(task) for task, value in there if _is(value, wanted.strip()))
    if kept:
        return [task for task in tasks if id(task) in kept]
    if not there:
        known = sorted({name for task in tasks for name in _keys(task.to_json())})
        if key.strip() in known:
            raise InputError(f"--filter {field}: the field {key!r} is empty in every task of {benchmark.id}")
        raise InputError(f"--filter {field}: no task of {benchmark.id} has the field {key!r}{nearest(key, known)}")
    found = list(dict.fromkeys(json.dumps(value, ensure_ascii=False) for _, value in there))
    more = f" and {len(found) - _SHOWN_VALUES} more" if len(found) > _SHOWN_VALUES else ""
    raise InputError(
        f"--filter {field}: no task of {benchmark.id} has that value; {key} is {', '.join(found[:_SHOWN_VALUES])}{more}"
    )


def _values_of(task: EvalTask, key: str) -> list[Any]:
    written, path = task.to_json(), key.split(".")
    return _values_at(written, path) or _values_at(written.get("metadata", {}), path)


def _values_at(value: Any, path: Sequence[str]) -> list[Any]:
    """What stands there; of a list, each of its entries. Nothing where there is no such key."""
    if not path:
        return value if isinstance(value, list) else [value]
    if isinstance(value, list):
        return [found for part in value for found in _values_at(part, path)]
    whole, (first, *rest) = ".".join(path), path
    if not isinstance(value, dict):
        return []
    return _values_at(value[whole], ()) if whole in value else _values_at(value[first], rest) if first in value else []


def _is(value: Any, wanted: str) -> bool:
    if isinstance(value, str):
        return value == wanted
    try:
        said = json.loads(wanted)
    except (ValueError, RecursionError):
        return False
    return isinstance(said, bool) == isinstance(value, bool) and bool(said == value)


def _keys(value: Any, before: str = "") -> Iterable[str]:
    for name, part in value.items() if isinstance(value, dict) else ():
        yield f"{before}{name}"
        yield from _keys(part, f"{before}{name}.")


def _without_tags(benchmark: Benchmark, tags: Sequence[str]) -> InputError:
    existing = sorted({tag for task in benchmark.tasks for tag in task.tags})
    hint = next((nearest(tag, existing) for tag in tags if tag not in existing), "")
    return InputError(
        f"no task of {benchmark.id} has {'all of the tags' if len(tags) > 1 else 'the tag'} {', '.join(tags)}{hint}; "
        f"its tags are {', '.join(existing) or 'none'}"
    )


def _without_complexity(
    benchmark: Benchmark, tagged: Sequence[EvalTask], tags: Sequence[str], complexity: Sequence[str]
) -> InputError:
    there = ", ".join(f"{count} {name or 'unrated'}" for name, count in count_complexity(tagged).items())
    with_tags = f" with {'the tags' if len(tags) > 1 else 'the tag'} {', '.join(tags)}" if tags else ""
    return InputError(f"no task of {benchmark.id}{with_tags} has the complexity {' or '.join(complexity)}; there are {there}")
