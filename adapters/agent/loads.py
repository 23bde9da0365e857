"""Which Agent Skills a call of a tool loads: told by the tool that loads skills, or by the path of the file that is opened.

Never by a name that merely occurs in a text.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from typing import Any

_SKILL_TOOLS = frozenset({"skill", "activateskill", "loadskill", "useskill"})
"""Names of tools that load a skill, without case and separators."""

_NAMES = ("name", "skill", "skill_name", "skillName", "command")
"""The arguments of such a tool that may hold the skill's name."""

_CHANGES = re.compile(r"write|edit|patch|create|delete|remove|move|rename", re.I)
"""Tools that change a file, or put one in its place, do not read it."""

_FILE = "SKILL.md"
_PARENTS = frozenset({"skills", "skill"})
"""The folders in which agents look for skills are all called so: ``.agents/skills``, ``.claude/skills`` …."""

_PLACES = frozenset({"workdir", "cwd", "working_directory", "workingDirectory", "dir", "directory", "dir_path"})
_NO_READERS = frozenset(
    {"ls", "find", "test", "[", "stat", "rm", "mv", "touch", "echo", "printf", "mkdir", "chmod", "cd", "tree"}
)
_SEPARATOR = re.compile(r"&&|\|\||[;|\n&]")
_REDIRECTED = re.compile(r"\d*>>?\s*\S+")
_MAX_CHARS = 20_000


def loads_in(tool: str, arguments: Any, installed: Collection[str], workspace: str = "") -> list[str]:
    """The names of the installed Agent Skills whose ``SKILL.md`` this call opens, each once, in order.

    A path counts where it is that of ``SKILL.md`` in a folder of the skill's name below one called ``skills``, as every agent
    installs them; relative ones start at the folder that the call names, the one that a command changes to, or the workspace.
    Of a shell command, what only lists or changes files does not count.
    """
    if not installed:
        return []
    plain = re.sub(r"[^a-z]", "", tool.lower())
    if plain in _SKILL_TOOLS:
        named = arguments if isinstance(arguments, str) else _named(arguments)
        return [named] if named in installed else []
    if _CHANGES.search(tool):
        return []
    found: dict[str, None] = {}
    places = [text for text in _texts(arguments, _PLACES) if text] or [workspace]
    for text in _texts(arguments):
        for path in _paths(text[:_MAX_CHARS], places):
            found.update(dict.fromkeys(_skills_at(path, installed)))
    return list(found)


def _named(arguments: Any) -> str:
    given = (arguments.get(key) for key in _NAMES) if isinstance(arguments, dict) else ()
    return next((text for text in given if isinstance(text, str)), "")


def _texts(value: Any, keys: Collection[str] | None = None) -> Iterator[str]:
    """The texts in arguments; of some keys alone, or of all but those that name a folder to work in."""
    if isinstance(value, str) and keys is None:
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            if keys is not None and key in keys and isinstance(each, str):
                yield each
            elif keys is None and key not in _PLACES:
                yield from _texts(each)
    elif isinstance(value, list) and keys is None:
        if value and all(isinstance(each, str) for each in value) and len(value) > 1:  # the words of a command
            yield shlex.join(value)
            yield from (each for each in value if " " in each)  # ["bash", "-lc", "cat …"]
        else:
            for each in value:
                yield from _texts(each)


def _paths(text: str, places: list[str]) -> Iterator[str]:
    """The paths that a text opens: it is one itself, or a command that has some."""
    if _FILE not in text and "*" not in text:
        return
    for place in places:
        yield posixpath.normpath(posixpath.join(place, text.strip()))
    folders = list(places)
    for part in _SEPARATOR.split(_REDIRECTED.sub(" ", text)):
        words = _words(part)
        if not words:
            continue
        if words[0] == "cd" and len(words) > 1:
            folders = [posixpath.join(folder, words[1]) for folder in folders]
        elif words[0] not in _NO_READERS:
            yield from (posixpath.normpath(posixpath.join(folder, word.lstrip("<"))) for word in words for folder in folders)


def _words(part: str) -> list[str]:
    try:
        return shlex.split(part)
    except ValueError:
        return part.replace('"', " ").replace("'", " ").split()


def _skills_at(path: str, installed: Collection[str]) -> list[str]:
    parent, _, rest = path.rpartition("/")
    above, _, name = parent.rpartition("/")
    if not fnmatchcase(_FILE, rest) or posixpath.basename(above) not in _PARENTS:
        return []
    return sorted(skill for skill in installed if fnmatchcase(skill, name))
