"""What a Python caller gives: functions, runnables, skills and paths to evaluate; dicts, models, tables and paths of tasks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from eval_skills.adapters.python.host.answer import plain
from eval_skills.adapters.python.host.errors import NotJson, a_type
from eval_skills.adapters.python.object_skill import UNVERSIONED, ObjectSkill, has_method, is_runnable
from eval_skills.api.evaluators import OwnEvaluators
from eval_skills.api.options import asking
from eval_skills.benchmarks import is_read_as_tasks
from eval_skills.core.documents.loading import check_path, from_home, validate
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import Benchmark, EvalTask, ExpectedOutput, Model, Skill
from eval_skills.core.models.base import fields_by_key, known_keys
from eval_skills.core.models.conversation import is_expectation
from eval_skills.core.models.evaluators import EvaluatorEntry, refuse_deep_sets, scorers_in
from eval_skills.core.skills import Discovery, load_skills, refuse_duplicates
from eval_skills.core.text import nearest
from eval_skills.scorers.options import EXPECTATIONS, OWN_EXPECTATION, to_camel
from eval_skills.scorers.registry import ScorerEntry, find_scorer, reads_expected_value

if TYPE_CHECKING:
    import pandas as pd

SkillLike: TypeAlias = Skill | str | os.PathLike[str] | Callable[..., Any] | Any
"""A skill, the path of one (or of a folder of them), a function, or a runnable: anything with `invoke` or `ainvoke`."""

TaskLike: TypeAlias = EvalTask | Mapping[str, Any]
"""A task, or a dict with its keys, where `input` and `expected` are shorter."""

TasksLike: TypeAlias = "Sequence[TaskLike] | Iterable[TaskLike] | TaskLike | Benchmark | pd.DataFrame | str | os.PathLike[str]"
"""Tasks; or a benchmark: itself, its id or its path, or that of a file with tasks."""

IN_MEMORY = "tasks"
"""The id of the benchmark that tasks from memory make."""

_LISTED = frozenset({"keywords", "patterns"})
_WHOLE = frozenset({"timeoutMs", "timeout_ms"})
_INPUTS = frozenset({"input", "inputData", "input_data"})


def read_skills(given: Any, max_output_bytes: int | None = None) -> tuple[Discovery, list[str]]:
    """The skills that a caller gave, in their order and each once; and the paths among what was given.

    `max_output_bytes` is the limit of one answer of those that are objects of this process.

    Raises:
        UsageError: none was given, one is of a type that cannot be called, or two have the same name.
        InputError: a path holds no skill, or an object cannot be called with an input.
    """
    found, named = Discovery(), []
    for place, name, each in _listed_skills(given):
        there = _skills_of(each, name, place, max_output_bytes)
        found.skills.extend(there.skills)
        found.invalid.extend(there.invalid)
        found.remarks.extend(there.remarks)
        named += [from_home(os.fspath(each))] if _is_path(each) else [str(skill.folder) for skill in there.skills if skill.folder]
    if not found.skills:
        raise UsageError("no skill to evaluate; give at least one function, runnable, Skill, or path of a skill")
    return Discovery(_each_once(found.skills), found.invalid, found.remarks), named


def _listed_skills(given: Any) -> list[tuple[str, str | None, Any]]:
    """Each skill with the place that messages name, and the name that it was given."""
    if isinstance(given, Mapping):
        for name in given:
            if not isinstance(name, str) or not name.strip():
                raise UsageError(f"skills: the keys of a dict are names; got {name!r}")
        return [(f"skills[{name!r}]", name, each) for name, each in given.items()]
    if isinstance(given, str | os.PathLike | Skill) or callable(given) or is_runnable(given) or not isinstance(given, Iterable):
        return [("skills", None, given)]
    return [(f"skills[{index}]", None, each) for index, each in enumerate(given)]


def _skills_of(given: Any, name: str | None, place: str, max_output_bytes: int | None) -> Discovery:
    with asking(given, place):
        return _found(given, name, place, max_output_bytes)


def _found(given: Any, name: str | None, place: str, max_output_bytes: int | None) -> Discovery:
    if _is_path(given):
        if not str(given).strip():
            raise UsageError(
                f"{place}: the path is blank; give the path of a skill.json, of its folder, or of a folder of skills"
            )
        check_path(os.fspath(given), place, "give the path of a skill.json, of its folder, or of a folder of skills")
        return load_skills([Path(from_home(os.fspath(given)))])
    if isinstance(given, Skill):
        return Discovery([given])
    if isinstance(given, type):
        raise UsageError(f"{place} is the class {given.__name__}; give an instance of it, or a function")
    if not (callable(given) or is_runnable(given) or has_method(given, "call")):
        valid = "give a function, an object with invoke, ainvoke or call, a Skill, or the path of a skill"
        raise UsageError(f"{place} is {a_type(given)}, which cannot be called; {valid}")
    return Discovery([ObjectSkill.of(given, name, max_output_bytes)])


def _is_path(given: Any) -> bool:
    return isinstance(given, str | os.PathLike) and not callable(given)


def _each_once(skills: list[Skill]) -> list[Skill]:
    kept = list({_identity(skill): skill for skill in reversed(skills)}.values())[::-1]
    by_key: dict[str, Skill] = {}
    for skill in kept:
        other = by_key.setdefault(skill.key, skill)
        if other is not skill and (skill.folder is None or other.folder is None):
            names = f'skills={{"{skill.id}-1": …, "{skill.id}-2": …}}'
            raise UsageError(f"two skills are called {skill.id!r}; give each a name of its own with a dict: {names}")
    refuse_duplicates(kept)
    return kept


def _identity(skill: Skill) -> object:
    return (id(skill.target), skill.id, skill.name) if isinstance(skill, ObjectSkill) else skill.folder or id(skill)


@dataclass(frozen=True, slots=True)
class GivenTasks:
    """Where the tasks are: in `benchmark`, or at the place of which the request's `fields` tell."""

    benchmark: Benchmark | None = None
    fields: dict[str, str] = field(default_factory=dict)


def read_tasks(given: Any, evaluator: str, own: OwnEvaluators) -> GivenTasks:
    """The tasks that a caller gave; `evaluator` is the scorer of those that name none, `own` takes the functions that judge.

    Raises:
        UsageError: none was given, or one is of a type that is not a task.
        InputError: a task is malformed; the message names its place and key.
    """
    if isinstance(given, Benchmark):
        return GivenTasks(given)
    if isinstance(given, str | os.PathLike):
        check_path(
            os.fspath(given), "tasks", "give the path of a benchmark or tasks file, the id of a benchmark, or a list of dicts"
        )
        place = from_home(os.fspath(given))
        return GivenTasks(fields={"tasks" if is_read_as_tasks(Path(place)) else "benchmark": place})
    if isinstance(given, Mapping) and "tasks" in given:
        return GivenTasks(validate(Benchmark, {**given, "tasks": _tasks(given["tasks"], evaluator, own)}))
    listed = [given] if isinstance(given, Mapping | EvalTask) else given
    return GivenTasks(
        validate(Benchmark, {"id": IN_MEMORY, "name": IN_MEMORY, "version": UNVERSIONED, "tasks": _tasks(listed, evaluator, own)})
    )


def read_task(given: TaskLike, evaluator: str, own: OwnEvaluators, place: str = "task") -> EvalTask:
    """One task; raises as `read_tasks`."""
    if isinstance(given, EvalTask):
        return given
    if not isinstance(given, Mapping):
        raise UsageError(f"{place} is {a_type(given)}; give a dict with the keys of a task, or an EvalTask")
    try:
        return validate(EvalTask, _written_out(given, evaluator, own, place), source=place)
    except NotJson as error:
        wrong = str(error).partition("; ")[0]
        raise InputError(f"{wrong}; give text, numbers, true, false, None, lists and dicts of these", source=place) from None
    except InputError as error:
        raise InputError(f"{error.message}{_hint(given, error.path)}", source=place, path=error.path) from None


def _hint(given: Mapping[str, Any], path: str) -> str:
    """What a caller may have meant by an `expected` that cannot be used."""
    if path.startswith("expected.") and isinstance(given.get("expected"), Mapping):
        return "; to compare with this dict itself, give it as expectedOutput: {'value': …}"
    if not path and "expected" in given and given["expected"] is None:
        return "; an expected of None counts as not given: where None is the right answer, write expectedOutput: {'value': None}"
    return ""


def _tasks(given: Any, evaluator: str, own: OwnEvaluators) -> list[EvalTask]:
    if rows := next((each for each in _ROWS if has_method(given, each)), None):
        raise UsageError(f"tasks is {a_type(given)}; give its rows, as {rows}() returns them")
    if hasattr(given, "columns") and callable(getattr(given, "to_dict", None)):
        given = _rows(given)
    if given is None or isinstance(given, str | bytes) or not isinstance(given, Iterable):
        what = "no tasks were given" if given is None else f"tasks is {a_type(given)}"
        valid = "give a list of dicts or EvalTasks, a DataFrame, a Benchmark, its id, or the path of a benchmark or tasks file"
        raise UsageError(f"{what}; {valid}")
    tasks = [
        read_task({"id": f"task-{number}", **each} if isinstance(each, Mapping) else each, evaluator, own, f"tasks[{number - 1}]")
        for number, each in enumerate(given, start=1)
    ]
    if not tasks:
        raise UsageError("no tasks were given: the list is empty; give at least one, as {'input': …, 'expected': …}")
    return tasks


_ROWS = ("to_dicts", "to_pylist")
"""Methods by which tables of Polars and Arrow give their rows; those of pandas have none of that name."""

_ELSEWHERE = {
    **dict.fromkeys(("target", "ideal", "answer", "output", "outputs", "reference", "reference_outputs"), "expected"),
    **dict.fromkeys(("inputs", "vars", "question", "prompt", "query"), "input"),
    **dict.fromkeys(("assert", "assertions", "metrics", "scorers"), "evaluators"),
    **dict.fromkeys(("scorer", "metric"), "evaluator"),
}
"""What the keys of a task are called in other libraries."""


def _nearest_key(word: str) -> str:
    return nearest(_ELSEWHERE.get(word, word), _task_keys_as_written())


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as tasks: an empty cell is a key that is not there, and an index that is called as a key is a column like others.

    Raises:
        InputError: a column is not a key of a task, or there twice; or a row asks nothing, though others do.
    """
    if indexed := [name for name in frame.index.names if name in _TASK_KEYS]:
        frame = frame.reset_index(level=indexed, allow_duplicates=True)
    names = list(frame.columns)
    if twice := next((str(name) for name in names if names.count(name) > 1), None):
        raise InputError(f"two columns are called {twice!r}; keep one of them, or give each a name of its own", source="tasks")
    if unknown := [str(name) for name in frame.columns if name not in _TASK_KEYS]:
        asked = _INPUTS & set(frame.columns)
        remedy = f"drop(columns={unknown})" if asked else f"assign(input=frame[{unknown}].to_dict('records'))"
        hint = _nearest_key(unknown[0]) or f"; columns are the keys of tasks: frame.{remedy}"
        raise InputError(f"unknown column {unknown[0]!r}{hint}", source="tasks")
    rows = [
        {str(name): value for name, cell in row.items() if not _is_empty(value := _python_value(str(name), cell))}
        for row in frame.to_dict(orient="records")
    ]
    for place, row in enumerate(rows):
        if (asked := _INPUTS & set(names)) and not row.keys() & {*_INPUTS, "turns", "user"}:
            said = f"the cell of {min(asked)} is empty, so nothing would be asked; fill it, or leave the row out"
            raise InputError(said, source=f"tasks[{place}]")
    return rows


def _python_value(name: str, cell: Any) -> Any:
    """A cell of NumPy's types as Python's; a time limit is whole, also in a column that empty cells made one of floats."""
    value = cell.tolist() if type(cell).__module__ == "numpy" and hasattr(cell, "tolist") else cell
    return int(value) if name in _WHOLE and isinstance(value, float) and value.is_integer() else value


def _is_empty(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)


def _written_out(given: Mapping[str, Any], evaluator: str, own: OwnEvaluators, place: str) -> dict[str, Any]:
    """The task with the keys of a benchmark file."""
    for key in given:
        if key not in _TASK_KEYS:
            hint = _nearest_key(str(key)) or f"; known are {', '.join(_task_keys_as_written())}"
            raise InputError(f"unknown key {key!r}{hint}", source=place)
    task = {key: _python_value(key, value) for key, value in given.items() if value is not None}
    if "input" in given:
        if twice := next((key for key in ("inputData", "input_data") if key in given), None):
            raise InputError(f"input and {twice} are the same key; leave one of them out", source=place)
        task["inputData"] = task.pop("input", None)
    if "evaluator" in task:
        task["evaluator"] = _by_name(task["evaluator"], own, f"{place}: evaluator")
    elif evaluator in own.entries and not _ASKS_SOMETHING & task.keys():
        task["evaluator"] = evaluator  # a function may judge an answer of which nothing else is expected
    if isinstance(several := task.get("evaluators"), list | tuple):
        task["evaluators"] = [_by_name(each, own, f"{place}: evaluators[{index}]") for index, each in enumerate(several)]
    for key in ("inputData", "input_data", "metadata", "turns"):
        if key in task:
            task[key] = _plain_turns(task[key]) if key == "turns" else plain(task[key], key.replace("inputData", "input"))
    if "expected" in task and not is_expectation(task["expected"]):
        if twice := next((key for key in ("expectedOutput", "expected_output") if key in task), None):
            raise InputError(
                f"expected and {twice} both say what the answer is compared with; leave one of them out", source=place
            )
        several = task.get("evaluators")
        if isinstance(several, list | tuple) and several:
            task["expectedOutput"] = _expected_by_several(task.pop("expected"), several, place)
        else:
            task |= _expected_by_one(task.pop("expected"), task.get("evaluator"), evaluator, place)
    return task


_TASK_KEYS = frozenset({*known_keys(EvalTask), "input"})


def _task_keys_as_written() -> list[str]:
    return sorted({"input", *fields_by_key(EvalTask)})


_ASKS_SOMETHING = frozenset({"expected", "expectedOutput", "expected_output", "evaluators", "turns", "user"})


def _by_name(given: Any, own: OwnEvaluators, place: str) -> Any:
    """An evaluator as a task has it, with the name of a function in place of the function."""
    with asking(given, place):
        return _checked_name(given, own, place)


def _checked_name(given: Any, own: OwnEvaluators, place: str) -> Any:
    if isinstance(given, Mapping) and callable(given.get("type")):
        return {**given, "type": own.named(given["type"], place)}
    named = own.named(given, place)
    if not isinstance(named, str | Mapping | Model):
        several = "; several of them are `evaluators` of the task" if isinstance(given, list | tuple | set) else ""
        raise UsageError(
            f'{place}: give the name of a scorer, one with options as {{"type": "regex", …}}, or a function{several}; '
            f"got {given!r}"
        )
    return named


def _plain_turns(turns: Any) -> Any:
    """The turns of a task; a model among their parts stays one."""
    if not isinstance(turns, list | tuple):
        return turns
    return [
        {
            key: part if isinstance(part, Model) else plain(part, f"turns[{place}].{key}")
            for key, part in turn.items()
            if part is not None
        }
        if isinstance(turn, Mapping)
        else turn
        for place, turn in enumerate(turns)
    ]


def _expected_by_one(value: Any, own: Any, default: str, place: str) -> dict[str, Any]:
    """The key of the task that holds the expected answer, under the name that its evaluator has for it: a value, keywords,
    patterns, a schema, criteria, or an option `expected` of its own."""
    if isinstance(value, ExpectedOutput):
        return {"expectedOutput": value}
    named = own.get("type") if isinstance(own, Mapping) else getattr(own, "type", own)
    scorer = _known(str(named or default), f"{f'{place}: ' if named else ''}evaluator")
    option, written = _expectation_of(scorer), plain(value, "expected")
    if option is None and OWN_EXPECTATION in scorer.options:
        return {"evaluator": _with_expected(own, scorer.name, written, place)}
    if option is None and not reads_expected_value(scorer):
        raise InputError(_not_read([scorer.name]), source=place, path="expected")
    return {"expectedOutput": {option or "value": _as_option(option, written)}}


def _with_expected(own: Any, scorer: str, written: Any, place: str) -> dict[str, Any]:
    """An evaluator with what its task expects as its option `expected`."""
    options = dict(own) if isinstance(own, Mapping) else getattr(own, "options", {})
    if OWN_EXPECTATION in options:
        message = f"given in the evaluator {scorer}, whose option it is, and in the task; keep one"
        raise InputError(message, source=place, path="expected")
    return {"type": scorer, **options, OWN_EXPECTATION: written}


def _expected_by_several(value: Any, several: Sequence[Any], place: str) -> Any:
    """The expected answer under the name that each of these evaluators has for it, but those that have one of their own."""
    if isinstance(value, ExpectedOutput):
        return value
    written = plain(value, "expected")
    try:
        refuse_deep_sets(several)
    except ValueError as error:
        raise InputError(str(error), source=place, path="evaluators") from None
    entries = list(scorers_in(validate(EvaluatorEntry, {"evaluators": list(several)}, source=place).evaluators or []))
    scorers = [_known(each.type, f"{place}: {each.place}") for each in entries]
    if not any(map(reads_expected_value, scorers)):
        raise InputError(_not_read([each.name for each in scorers]), source=place, path="expected")
    meant = {
        option: None
        for each, scorer in zip(entries, scorers, strict=True)
        if (option := _expectation_of(scorer)) and not {option, to_camel(option)} & {*each.options}
    }
    return {option: _as_option(option, written) for option in meant or ("value",)}


def _not_read(scorers: Sequence[str]) -> str:
    verb = "does" if len(scorers) == 1 else "do"
    own = next((name for name in scorers if OWN_EXPECTATION in find_scorer(name).options), None)
    meant = f"give {own} its option, as {{'type': {own!r}, 'expected': …}}; else " if own else ""
    compared = ", ".join(map(repr, [*scorers, "exact"]))
    advice = f"leave it out, or name what compares with it, too, as 'evaluators': [{compared}]"
    return f"{' and '.join(scorers)} {verb} not compare the answer with it; {meant}{advice}"


def _known(scorer: str, place: str) -> ScorerEntry:
    try:
        return find_scorer(scorer)
    except InputError as error:
        raise UsageError(f"{place}: {error}") from None


def _expectation_of(scorer: ScorerEntry) -> str | None:
    return next((name for name in EXPECTATIONS if name in scorer.options and name != "custom_scorer_path"), None)


def _as_option(option: str | None, written: Any) -> Any:
    return [written] if option in _LISTED and not isinstance(written, list) else written
