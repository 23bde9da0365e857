"""Which Agent Skills a call of a tool loads: told by the tool that loads skills, or by the path of the file that is opened.

Never by a name that merely occurs in a text. What cannot be read may have loaded them: that is not known, and never a "no".
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from eval_skills.adapters.agent.commands import MAX_CHARS, Opened, Reading, fits, opened_at

_SKILL_TOOLS = frozenset({"skill", "activateskill", "loadskill", "useskill"})
"""Names of tools that load a skill, without case and separators."""

_NAMES = ("name", "skill", "skill_name", "skillName", "command")
"""The arguments of such a tool that may hold the skill's name."""

_CHANGES = re.compile(r"write|edit|patch|create|delete|remove|move|rename", re.I)
"""Tools that change files do not load what is in one."""
_LISTS = re.compile(r"glob|list|find|tree|(?:^|_)ls$", re.I)
_SEARCHES = re.compile(r"grep|search", re.I)
_VIEWS = frozenset({"view", "read", "cat", "open", "show"})
"""What a tool that edits files is told where it is to show one: ``{"command": "view", "path": …}``."""

_FILE = "SKILL.md"
_PARENTS = frozenset({"skills", "skill"})
"""The folders in which agents look for skills are all called so: ``.agents/skills``, ``.claude/skills`` …."""

_PLACES = frozenset({"workdir", "cwd", "working_directory", "workingDirectory", "dir", "directory", "dir_path"})
_COMMANDS = frozenset({"command", "cmd", "script", "commands"})
_CODE = frozenset({"code", "source", "program"})
_MENTION = re.compile(r"skill\.md|/skills?\b|\bskills?/", re.I)
_PATTERN = re.compile(r"[*?\[]")
_IN_SKILLS = re.compile(r"/skills?(?:/|$)")
_FAILED = re.compile(r"no such file|cannot (?:open|find)|not found|\[exit code [1-9]", re.I)
"""What commands say in their result that did not find a file."""


@dataclass(frozen=True, slots=True)
class Loads:
    """The Agent Skills that a call loads, in order, and those of which it is unknown whether it does. `folders` are where a
    command ends: in some agents the next one begins there. `by_tool`: the call is one of the tool that loads skills, so it loads
    nothing where it fails; a command that fails may have read the file before."""

    names: tuple[str, ...] = ()
    possible: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    by_tool: bool = False


def loads_in(
    tool: str,
    arguments: Any,
    installed: Collection[str],
    workspace: str = "",
    *,
    elsewhere: Collection[str] = (),
    entered: Collection[str] = (),
    result: Any = None,
) -> Loads:
    """Which Agent Skills this call loads, of those `installed`, and of those that may lie `elsewhere` on the machine.

    A path counts where it is that of ``SKILL.md`` in a folder of the skill's name below one called ``skills``, as every agent
    installs them; relative ones start at the folder that the call names, the one that a command changes to, or the workspace.
    A pattern, and a command that goes through the folder of skills, load what is installed; nothing else is there. Of a shell
    command, what only lists or changes files does not count. A search from further above loads the ones of which its `result`
    shows lines; without a result that is unknown, as it is of what cannot be read and names the skills' folder, of a relative
    path that leads to ``SKILL.md`` only from a folder that an earlier command `entered`, and of a file `elsewhere` where the
    result says that a file was not found.
    """
    if not installed and not elsewhere:
        return Loads()
    arguments = _parsed(arguments)
    plain = re.sub(r"[^a-z]", "", tool.lower())
    if plain in _SKILL_TOOLS:
        named = arguments if isinstance(arguments, str) else _named(arguments)
        return Loads(names=(named,) if named in installed or named in elsewhere else (), by_tool=True)
    known = _Known(installed, elsewhere, workspace, result)
    here, there = _read(tool, arguments, [workspace]), _read(tool, arguments, sorted(entered))
    return known.loads(here, there)


def _parsed(arguments: Any) -> Any:
    """The arguments themselves where they came as a JSON text, which is how OpenAI's API sends them."""
    if isinstance(arguments, str) and arguments.lstrip()[:1] in {"{", "["}:
        try:
            return json.loads(arguments)
        except (ValueError, RecursionError):
            return arguments
    return arguments


def _named(arguments: Any) -> str:
    given = (arguments.get(key) for key in _NAMES) if isinstance(arguments, dict) else ()
    return next((text for text in given if isinstance(text, str)), "")


def _read(tool: str, arguments: Any, folders: list[str]) -> Reading:
    """What a call reads, from each of the folders."""
    texts = list(_texts(arguments))
    views = any(key == "command" and text in _VIEWS for key, text in texts)
    found = Reading(folders)
    if (_CHANGES.search(tool) and not views) or (_LISTS.search(tool) and not _SEARCHES.search(tool)):
        return found
    if places := [text for key, text in texts if key in _PLACES and text]:
        found.folders = [posixpath.join(folder, place) for folder in folders for place in places]
    if _SEARCHES.search(tool):
        paths = [text for key, text in texts if key in {"path", "paths"}] or [""]
        found.opened = [
            Opened(posixpath.normpath(posixpath.join(folder, path)), below=True, searched=True)
            for folder in found.folders
            for path in paths
        ]
        return found
    for key, text in texts:
        _read_text(found, key, text, into_folders="many" in tool)
    return found


def _read_text(found: Reading, key: str, text: str, *, into_folders: bool) -> None:
    if key in _COMMANDS:
        found.script(text)
    elif key in _CODE:
        found.code(text[:MAX_CHARS])
    elif key not in _PLACES and len(text) <= MAX_CHARS:
        found.opened += [opened_at(posixpath.join(folder, text), below=into_folders) for folder in found.folders]


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
            return
        for each in value:
            yield from _texts(each, key)


@dataclass(frozen=True, slots=True)
class _Known:
    """The Agent Skills by which what a call reads is judged."""

    installed: Collection[str]
    elsewhere: Collection[str]
    workspace: str
    result: Any

    def loads(self, here: Reading, there: Reading) -> Loads:
        names: dict[str, None] = {}
        possible: set[str] = set()
        for opened in here.opened:
            sure, perhaps = self._at(opened)
            names.update(dict.fromkeys(sure))
            possible.update(perhaps)
        for opened in there.opened:
            possible.update(*self._at(opened))
        for text in here.unclear:
            possible.update(self._mentioned(text))
        if isinstance(self.result, str) and _FAILED.search(self.result):
            possible |= names.keys() - set(self.installed)
        found = tuple(name for name in names if name in self.installed or name not in possible)
        folders = (posixpath.normpath(folder) for folder in here.folders)
        return Loads(found, frozenset(possible.difference(found)), frozenset(each for each in folders if _IN_SKILLS.search(each)))

    def _at(self, opened: Opened) -> tuple[list[str], list[str]]:
        """The skills whose ``SKILL.md`` is opened, and those of which that is unknown."""
        found = sorted(name for name in {*self.installed, *self.elsewhere} if _leads_to(opened, name))
        literal = [name for name in found if name in self.installed or not _is_open(opened, name)]
        outside = opened.path.startswith("/") and not f"{opened.path}/".startswith(f"{self.workspace}/")
        unsure = [name for name in found if name not in literal and outside]
        if not opened.sure:
            return [], literal + unsure
        if literal or unsure or not self._is_above(opened):
            return literal, unsure
        if not opened.searched or self.result is None:
            return [], sorted(self.installed)
        return [name for name in sorted(self.installed) if self._shows(name)], []

    def _is_above(self, opened: Opened) -> bool:
        """Whether a folder is gone through in which the folder of skills may lie."""
        hidden = posixpath.basename(opened.path).startswith(".")
        above = hidden or opened.path in {"/", "~"} or f"{self.workspace}/".startswith(f"{opened.path}/")
        return opened.below and opened.sure and above and fits(_FILE, opened.name)

    def _shows(self, name: str) -> bool:
        """Whether the result of a search shows a line of a skill's ``SKILL.md``, and not its path alone."""
        said = self.result if isinstance(self.result, str) else json.dumps(self.result, ensure_ascii=False)
        return re.search(rf"skills?/{re.escape(name)}/SKILL\.md\"?(?::|-\d|\\n\s+Line|\n\s+Line)", said) is not None

    def _mentioned(self, text: str) -> list[str]:
        """The skills that a text may load that names ``SKILL.md`` or the folder of skills: those that it names, or else all that
        are installed."""
        if not _MENTION.search(text):
            return []
        named = [n for n in {*self.installed, *self.elsewhere} if re.search(rf"(?<![\w-]){re.escape(n)}(?![\w-])", text)]
        return named or list(self.installed)


def _leads_to(opened: Opened, name: str) -> bool:
    """Whether a path is that of the skill's ``SKILL.md``, or of a folder around it that is gone through."""
    above, _, last = opened.path.rpartition("/")
    parent = posixpath.basename(above)
    if not opened.below:
        return fits(_FILE, last) and _is_parent(posixpath.dirname(above)) and fnmatchcase(name, parent)
    if not fits(_FILE, opened.name):
        return False
    is_file = fits(_FILE, last) and _is_parent(posixpath.dirname(above)) and fnmatchcase(name, parent)
    return is_file or _is_parent(opened.path) or (_is_parent(above) and fnmatchcase(name, last))


def _is_parent(path: str) -> bool:
    """Whether a path is that of a folder of skills; a pattern is where an agent's own folder is around it: ``.agents/*``."""
    around, _, last = path.rpartition("/")
    return last in _PARENTS or (
        posixpath.basename(around).startswith(".") and any(fnmatchcase(parent, last) for parent in _PARENTS)
    )


def _is_open(opened: Opened, name: str) -> bool:
    """Whether a path does not say itself which skill it leads to."""
    return f"/{name}" not in opened.path or _PATTERN.search(opened.path) is not None
