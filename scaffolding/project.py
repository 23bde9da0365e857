"""A folder in which ``eval-skills run`` works at once. What is there already stays as it is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from eval_skills.benchmarks.locations import builtin_ids, known_ids
from eval_skills.core.errors import UsageError
from eval_skills.core.skills import discover_skills
from eval_skills.core.store.files import write_whole
from eval_skills.core.text import plural
from eval_skills.scaffolding.commented_config import commented_config
from eval_skills.scaffolding.draft import Draft, write_drafts
from eval_skills.scaffolding.names import skill_name
from eval_skills.scaffolding.project_files import ProjectFolders, action, pattern, with_lines, workflow
from eval_skills.scaffolding.skill_templates import draft_skill

State = Literal["written", "extended", "kept"]
Ci = Literal["github"]

EXAMPLE_SKILL, EXAMPLE_BENCHMARK = "Word facts", "words"
_BENCHMARK_FILE = Path(__file__).parent / "templates" / "project" / "benchmark.json"


@dataclass(frozen=True, slots=True)
class Part:
    """A file of a project, or a folder (then `text` is None), what becomes of it, and why it was kept as a whole."""

    path: Path
    state: State
    text: str | None = None
    reason: str = ""


def plan_project(places: ProjectFolders, *, ci: Ci | None = None) -> list[Part]:
    """What a project in these places needs, and what of it is there; nothing is written.

    An example skill is for folders without a skill, an example benchmark for those without one.

    Raises:
        UsageError: a file stands where a folder should be, or the other way round.
        InputError: the folder of skills is a file.
    """
    return [
        _file(places.config, commented_config(_settings(places))),
        *_example_skill(places),
        *_example_benchmark(places),
        _folder(places, places.reports),
        _gitignore(places),
        *(_workflow(places) if ci == "github" else []),
    ]


def write_project(parts: Sequence[Part]) -> None:
    """Write what is to be written, files by rename. If a new file cannot be written, no file is.

    Raises:
        UsageError: as `write_drafts`.
    """
    new = [part for part in parts if part.state == "written"]
    drafts = [Draft(part.path.parent, {part.path.name: part.text}) for part in new if part.text is not None]
    write_drafts(drafts, advice="it was created meanwhile; run the command again, which keeps it")
    for part in new:
        if part.text is None:
            part.path.mkdir(parents=True, exist_ok=True)
    for part in parts:
        if part.state == "extended" and part.text is not None:
            _replace(part.path.resolve(), part.text)


def own_benchmarks(places: ProjectFolders) -> list[str]:
    """The ids of the project's benchmarks that no built-in one has."""
    return sorted({*known_ids(places.benchmarks)} - {*builtin_ids()})


def _settings(places: ProjectFolders) -> dict[str, str]:
    """What a new configuration file says: enough for `run` to need no option, whatever the person's own file says."""
    return {
        "skillsDir": places.written(places.skills),
        "benchmarksDir": places.written(places.benchmarks),
        "benchmark": next(iter(own_benchmarks(places)), EXAMPLE_BENCHMARK),
        "outputDir": places.written(places.reports),
        "store": places.written(places.store),
    }


def _example_skill(places: ProjectFolders) -> Iterator[Part]:
    skills = discover_skills(places.skills).skills if os.path.lexists(places.skills) else []
    if skills or not places.holds(places.skills):
        yield Part(places.skills, "kept", reason=_has(len(skills), "skill") if skills else "outside the project")
        return
    # Its README shows a command to run in the project's folder.
    draft = draft_skill(skill_name(EXAMPLE_SKILL), "python_script", Path(places.written(places.skills)))
    for name, text in draft.files.items():
        yield _file(places.skills / draft.folder.name / name, text)


def _example_benchmark(places: ProjectFolders) -> Iterator[Part]:
    _refuse_file(places.benchmarks)
    own = own_benchmarks(places)
    if own or not places.holds(places.benchmarks):
        yield Part(places.benchmarks, "kept", reason=_has(len(own), "benchmark") if own else "outside the project")
        return
    target = places.benchmarks / EXAMPLE_BENCHMARK / _BENCHMARK_FILE.name
    yield _file(target, _BENCHMARK_FILE.read_text(encoding="utf-8"))


def _folder(places: ProjectFolders, path: Path) -> Part:
    _refuse_file(path)
    if path.is_dir() or places.holds(path):
        return Part(path, "kept" if path.is_dir() else "written")
    return Part(path, "kept", reason="outside the project")


def _gitignore(places: ProjectFolders) -> Part:
    file = places.folder / ".gitignore"
    wanted = [pattern(places.written(path).removeprefix("./"), is_folder=is_folder) for path, is_folder in places.results()]
    if not os.path.lexists(file):
        return Part(file, "written", with_lines("", wanted))
    if not file.is_file():
        raise UsageError(f"{file} is not a file; lines are to be added to it")
    old = file.read_bytes().decode("utf-8", "surrogateescape")
    new = with_lines(old, wanted)
    return Part(file, "kept") if new == old else Part(file, "extended", new)


def _workflow(places: ProjectFolders) -> list[Part]:
    files = [workflow(places.folder, places.reports, places.store), *action(places.folder)]
    return [_file(*each) for each in files]


def _file(path: Path, text: str) -> Part:
    return Part(path, "kept") if os.path.lexists(path) else Part(path, "written", text)


def _refuse_file(path: Path) -> None:
    if os.path.lexists(path) and not path.is_dir():
        raise UsageError(f"{path} is a file; a folder of this name is needed")


def _has(count: int, what: str) -> str:
    return f"already has {plural(count, what)}"


def _replace(path: Path, text: str) -> None:
    mode = path.stat().st_mode
    write_whole(path, text.encode("utf-8", "surrogateescape"))
    path.chmod(mode & 0o7777)
