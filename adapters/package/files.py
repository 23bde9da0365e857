"""What lies in a skill's folder: its tests, its program, and what should not be there."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from eval_skills.adapters.package.metadata import Finding
from eval_skills.adapters.python.entrypoint import python_entrypoint
from eval_skills.agent_skills.linting.files import HARMLESS_FILE, SECRET_FILE
from eval_skills.core.documents.loading import read_document, validate
from eval_skills.core.errors import InputError
from eval_skills.core.models import Benchmark, Skill
from eval_skills.core.skills import SKILL_FILE

MAX_FILE_BYTES = 1_000_000
MAX_FILES = 10_000
"""A folder is read up to so many files; more is a finding of its own."""

_SKIPPED = frozenset({".git", "__pycache__", "node_modules", ".venv", "venv", ".mypy_cache", ".ruff_cache", ".pytest_cache"})
_SCRIPT = re.compile(r"\.(py|js|mjs|cjs|ts|sh|rb|pl|php|jar)$")


def suite_findings(skill: Skill) -> list[Finding]:
    """Whether ``tests/*.eval.json`` are there, can be read, and hold tasks."""
    files = sorted((_folder(skill) / "tests").glob("*.eval.json"))
    problems, tasks = [], 0
    for file in files:
        try:
            tasks += len(validate(Benchmark, read_document(file), source=file.name).tasks)
        except InputError as error:
            problems.append(str(error))
    return [
        Finding("has-tests", bool(files), "there is no tests/*.eval.json"),
        Finding("tests-readable", bool(files) and not problems, "; ".join(problems) or "there are no tests to read"),
        Finding("tests-with-tasks", tasks > 0, "the tests do not hold any task"),
    ]


def structure_findings(skill: Skill) -> list[Finding]:
    """Whether the skill file, the program and a README are there, and no large or secret-looking file is."""
    folder = _folder(skill)
    files = list(_files(folder))
    large = sorted(_shown(file, folder) for file in files if file.lstat().st_size > MAX_FILE_BYTES)
    secret = sorted(_shown(file, folder) for file in files if SECRET_FILE.match(file.name) and not HARMLESS_FILE.match(file.name))
    lost = _missing_programs(skill, folder)
    readable = any(file.parent == folder and file.stem.lower() == "readme" for file in files)
    large += [f"more than {MAX_FILES:,} files"] if len(files) > MAX_FILES else []
    return [
        Finding("has-skill-file", (folder / SKILL_FILE).is_file(), f"there is no {SKILL_FILE}"),
        Finding("has-entrypoint", not lost, f"the entrypoint names {', '.join(lost)}, which is not a file of this folder"),
        Finding("has-readme", readable, "there is no README"),
        Finding("no-large-files", not large, f"over {MAX_FILE_BYTES:,} bytes: {', '.join(large)}"),
        Finding("no-secret-files", not secret, f"looks like a secret: {', '.join(secret)}"),
    ]


def _folder(skill: Skill) -> Path:
    assert skill.folder is not None  # the adapter refuses a skill without one
    return skill.folder


def _files(folder: Path) -> Iterator[Path]:
    """The files below `folder`, links to folders not followed, one more than `MAX_FILES` at most."""
    left = MAX_FILES + 1
    for where, subfolders, names in os.walk(folder):
        subfolders[:] = sorted(set(subfolders) - _SKIPPED)
        for name in sorted(names)[:left]:
            yield Path(where, name)
        if (left := left - len(names)) <= 0:
            return


def _missing_programs(skill: Skill, folder: Path) -> list[str]:
    """The files that the skill's command names and its folder does not hold."""
    serve = skill.adapter_config.get("serve")
    if skill.adapter_type in {"langchain", "custom"}:
        return _missing_python(skill, folder)
    if skill.adapter_type == "http":
        command = serve.get("command", "") if isinstance(serve, dict) else ""
    else:
        command = skill.adapter_config.get("command") or skill.entrypoint
    return [word for word in _file_words(str(command)) if not _holds(folder, word)]


def _missing_python(skill: Skill, folder: Path) -> list[str]:
    try:
        files = python_entrypoint(skill).files
    except InputError:
        return [skill.entrypoint]
    return [] if any(_holds(folder, name) for name in files) else [files[0]]


def _file_words(command: str) -> list[str]:
    """Words that name a file relative to the skill's folder: with a script's ending, or a path that is not absolute."""
    try:
        words = shlex.split(command)
    except ValueError:
        return [command]
    relative = [word for word in words if not word.startswith(("-", "/")) and "://" not in word and "=" not in word]
    return [word for word in relative if _SCRIPT.search(word) or word.startswith(("./", "../"))]


def _holds(folder: Path, name: str) -> bool:
    path = (folder / name).resolve()
    return path.is_relative_to(folder.resolve()) and path.is_file()


def _shown(file: Path, folder: Path) -> str:
    return file.relative_to(folder).as_posix()
