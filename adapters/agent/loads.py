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

_NO_READING = re.compile(r"write|edit|patch|create|delete|remove|move|rename|glob|grep|list|find|search", re.I)
"""Tools that change files, or only name them, do not load what is in one."""

_FILE = "SKILL.md"
_PARENTS = frozenset({"skills", "skill"})
"""The folders in which agents look for skills are all called so: ``.agents/skills``, ``.claude/skills`` …."""

_PLACES = frozenset({"workdir", "cwd", "working_directory", "workingDirectory", "dir", "directory", "dir_path"})
_NO_READERS = frozenset(
    {"ls", "find", "test", "[", "stat", "rm", "mv", "touch", "echo", "printf", "mkdir", "chmod", "cd", "tree"}
)
_SEPARATOR = re.compile(r"&&|\|\||[;|\n&]")
_REDIRECTED = re.compile(r"\d*>>?\s*\S+")
_COMMANDS = frozenset({"command", "cmd", "script", "commands"})
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_MAX_CHARS, _MAX_WORDS = 20_000, 64


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
    if _NO_READING.search(tool):
        return []
    texts = list(_texts(arguments))
    places = [text for key, text in texts if key in _PLACES and text] or [workspace]
    found: dict[str, None] = {}
    for key, text in texts:
        if key in _PLACES or not _may_open(text):
            continue
        opened = _opened_by(text[:_MAX_CHARS], places) if key in _COMMANDS else [posixpath.join(each, text) for each in places]
        for path in opened:
            found.update(dict.fromkeys(_skills_at(posixpath.normpath(path), installed)))
    return list(found)


def _named(arguments: Any) -> str:
    given = (arguments.get(key) for key in _NAMES) if isinstance(arguments, dict) else ()
    return next((text for text in given if isinstance(text, str)), "")


def _texts(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """The texts in arguments, each with the key that it, or the list that it is in, stands under."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _texts(each, str(name))
    elif isinstance(value, list):
        if key in _COMMANDS and all(isinstance(each, str) for each in value):  # its words: ["bash", "-lc", "cat …"]
            yield key, shlex.join(value)
        for each in value:
            yield from _texts(each, key)


def _may_open(text: str) -> bool:
    return _FILE.casefold() in text.casefold() or "*" in text


def _opened_by(command: str, places: Collection[str]) -> Iterator[str]:
    """The paths that a shell command names, but for those that it only lists or writes to."""
    folders = list(places)
    for part in _SEPARATOR.split(_REDIRECTED.sub(" ", command)):
        words = _words(part)
        if words[:1] == ["cd"] and len(words) > 1:
            folders = [posixpath.join(folder, words[1]) for folder in folders]
        elif words and words[0] not in _NO_READERS:
            for word in words:
                yield from (posixpath.join(folder, each.lstrip("<")) for each in _expanded(word) for folder in folders)


def _expanded(word: str) -> list[str]:
    """The words that braces make of one: ``{a,b}/c`` is ``a/c`` and ``b/c``; not more than `_MAX_WORDS`."""
    words = [word]
    while len(words) <= _MAX_WORDS and (found := _BRACES.search(words[0])) is not None:
        first = words.pop(0)
        words += [first[: found.start()] + middle + first[found.end() :] for middle in found[1].split(",")]
    return words[:_MAX_WORDS]


def _words(part: str) -> list[str]:
    try:
        return shlex.split(part)
    except ValueError:
        return part.replace('"', " ").replace("'", " ").split()


def _skills_at(path: str, installed: Collection[str]) -> list[str]:
    parent, _, rest = path.rpartition("/")
    above, _, name = parent.rpartition("/")
    if not fnmatchcase(_FILE.casefold(), rest.casefold()) or posixpath.basename(above) not in _PARENTS:
        return []
    return sorted(skill for skill in installed if fnmatchcase(skill, name))
