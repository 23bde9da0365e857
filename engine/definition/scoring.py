"""What judges the answers of a run: the fingerprints by which two runs show whether the same did."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from eval_skills.core.fingerprint import digest_of_folder, digest_of_json, source_of
from eval_skills.core.models.evaluators import SET
from eval_skills.engine.definition.judge_parameters import own_parameters
from eval_skills.scorers import ScoringSettings, TaskScoring
from eval_skills.scorers.judging import Judges
from eval_skills.scorers.judging.model import JudgeIdentity
from eval_skills.scorers.registry import ScorerEntry, find_scorer
from eval_skills.scorers.task_scoring.evaluator_set import EvaluatorSet

CUSTOM = "custom"

Scorings = Mapping[str, TaskScoring]
"""How each task of a run is scored, by its id."""


def judges_of(scorings: Scorings, *, simulators: bool = False) -> Judges | None:
    """What all tasks of a run ask; None where no task asks a model. With `simulators` those that play users count, too."""
    asking = (each for each in scorings.values() if each.models or (simulators and each.simulators))
    return next((scoring.settings.judges for scoring in asking), None)


def judges_by_task(scorings: Mapping[str, TaskScoring]) -> dict[str, JudgeIdentity]:
    """The judge of each task that a model judges."""
    return {name: scoring.judge for name, scoring in scorings.items() if scoring.judge is not None}


def scoring_digests(scorings: Mapping[str, TaskScoring]) -> dict[str, str]:
    """By ``scoring/<task id>``, the digest of what judges a task's answers and is not written in the task itself.

    That is which scorers do and, where they are not ours, their code; judging models with the version of their prompts; and the
    weights, tool categories and spelling of tools that the run sets. Code is the file that a task names in its benchmark's folder
    with the neighbours that it imports, the file that defines a plug-in, or the source of a function of the calling program with
    what it was made with (what it calls is not seen). Ours is left out, so that runs of two versions of eval-skills can be
    compared.
    """
    code_of, files_of = cache(_foreign_code), cache(_files_with_imports)
    of_settings = {id(each): str(each.model_dump(mode="json", include=_SETTINGS)) for each in _all_settings(scorings.values())}
    digest_of = cache(lambda *known: digest_of_json(known))
    found = {}
    for task, scoring in scorings.items():
        parts = [part for each in scoring.parts for part in _judging(each, code_of, files_of)]
        found[f"scoring/{task}"] = digest_of(*parts, of_settings[id(scoring.settings)])
    return found


_SETTINGS = {"weights", "tool_categories", "tool_names"}


def _all_settings(scorings: Iterable[TaskScoring]) -> list[ScoringSettings]:
    return list({id(scoring.settings): scoring.settings for scoring in scorings}.values())


def _judging(
    scoring: TaskScoring, code_of: Callable[[str], str | None], files_of: Callable[[Path], tuple[str, ...]]
) -> Iterator[str]:
    for name in scoring.scorers:
        yield f"{name} {code_of(name) or 'of eval-skills'}"
    for path in scoring.code_files:
        yield from files_of(path)
    yield from (str(judge) for judge in (scoring.judge, scoring.claims_judge) if judge is not None)


def _foreign_code(name: str) -> str | None:
    """The digest of a scorer's code, and of what a function of the calling program was made with; None for one of ours."""
    entry = find_scorer(name)
    code = _code_of_entry(entry)
    parameters = [] if entry.own is None else own_parameters(entry.own)
    return digest_of_json([code, *parameters]) if parameters else code


def _code_of_entry(entry: ScorerEntry) -> str | None:
    target = inspect.unwrap(entry.target)
    if target is not entry.target and isinstance(target, FunctionType):
        return digest_of_json(_source(target))
    module = str(getattr(target, "__module__", ""))
    return None if module.startswith(f"{_OURS}.") else _digest_of_entry(entry)


_OURS = __name__.partition(".")[0]


def _source(function: FunctionType) -> str:
    """Its source, and what Python made of it where that alone does not tell: there is none, or several lambdas stand in the lines
    that are the source of each.
    """
    source = source_of(function)
    if source is not None and source.count("lambda") < 2:
        return source
    return f"{source or ''} {_compiled(function.__code__)}"


def _compiled(code: CodeType) -> str:
    """The code with all that it names, the same in every process of one version of Python."""
    constants = [
        _compiled(each) if isinstance(each, CodeType) else sorted(map(repr, each)) if isinstance(each, frozenset) else repr(each)
        for each in code.co_consts
    ]
    return f"{code.co_code.hex()} {constants} {code.co_names}"


def _files_with_imports(path: Path) -> tuple[str, ...]:
    """The digests of a Python file and of what it imports from its own folder, and that again, each with its name."""
    found, left = dict[Path, str](), [path]
    while left:
        file = left.pop()
        if file not in found:
            found[file] = f"{file.name} {digest_of_folder(file)}"
            left += _neighbours(file) if file.suffix == ".py" else ()
    return tuple(sorted(found.values()))


def _neighbours(path: Path) -> list[Path]:
    """The files and packages beside a Python file that it imports; none where it cannot be read as Python."""
    try:
        statements = [*ast.walk(ast.parse(path.read_bytes()))]
    except (SyntaxError, ValueError):
        return []
    names = {alias.name for each in statements if isinstance(each, ast.Import) for alias in each.names}
    names |= {each.module for each in statements if isinstance(each, ast.ImportFrom) and each.module}
    firsts = {name.partition(".")[0] for name in names}
    return [place for name in firsts for place in (path.parent / f"{name}.py", path.parent / name) if place.exists()]


def scorer_digests(scorings: Iterable[TaskScoring], folder: Path | None) -> dict[str, str]:
    """By the name of every scorer that these tasks need, the digest of the file that defines it, or of the folder that it says
    makes its verdicts; of several evaluators that make one verdict also that of ``set``.

    That of ``custom`` also covers the Python files in the benchmark's `folder`, which are the code that it runs.
    """
    scorings = list(scorings)
    parts = [part for scoring in scorings for part in scoring.parts]
    names = sorted({name for part in parts for name in part.scorers})
    own = None if folder is None else custom_files(scorings, folder)
    sets = {SET: _code(EvaluatorSet)} if any(part.scorer == SET for part in parts) else {}
    return {name: _scorer_digest(name, own) for name in names} | sets


def custom_files(scorings: Iterable[TaskScoring], folder: Path) -> dict[str, str]:
    """The digests of the Python files beside custom scorers, which may import each other, by their paths below `folder`.

    They lie in the benchmark's `folder`, or in that of their task.
    """
    custom = [scoring for scoring in scorings if any(CUSTOM in part.scorers for part in scoring.parts)]
    places = {scoring.task.folder or folder for scoring in custom}
    files = sorted(path for place in places for path in place.glob("*.py"))
    return {path.relative_to(folder).as_posix(): digest_of_folder(path) for path in files}


def _scorer_digest(name: str, own: Mapping[str, str] | None) -> str:
    code = _digest_of_entry(find_scorer(name))
    return code if name != CUSTOM or own is None else digest_of_json({"scorer": code, "own": own})


def _digest_of_entry(entry: ScorerEntry) -> str:
    return _code(entry.target) if entry.folder is None else digest_of_folder(entry.folder)


def _code(target: Callable[..., Any]) -> str:
    """The digest of the defining file; of a plug-in without one, of its name."""
    try:
        written_in = Path(inspect.getfile(inspect.unwrap(target)))
    except TypeError:
        return digest_of_json(repr(type(target)))
    return digest_of_folder(written_in) if written_in.is_file() else digest_of_json(str(written_in.name))
