"""Tools by intent: which tool names, and which programs of a shell command, count as reading a file, searching, using a shell."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import regex

DEFAULT_CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "file_read": ("bash", "text_editor", "read_file", "read", "view", "cat", "view_file", "str_replace_editor"),
    "file_write": ("bash", "text_editor", "write_file", "write", "edit_file", "create_file", "str_replace_editor"),
    "file_list": ("bash", "list_directory", "list_dir", "ls", "find", "directory_tree", "analyze"),
    "search": ("bash", "grep", "ripgrep", "rg", "search", "search_files", "code_search", "find_in_files", "analyze"),
    "shell": ("bash", "shell", "terminal", "execute", "run_command", "exec", "developer"),
    "web": ("web_search", "browse", "fetch_url", "http_request", "curl", "wget"),
    "git": ("bash", "git", "git_commit", "git_push", "git_pull", "git_status", "github"),
    "python": ("bash", "python", "python_repl", "execute_python", "ipython", "jupyter"),
}
"""The categories that are always there. One `bash` call satisfies seven of the eight, with any command."""


def category_table(own: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """The default categories with a user's own.

    A known name extends that category, a new one adds a category. ``=web`` as a name replaces the list instead of extending it;
    ``-curl`` in a list takes one tool out.
    """
    table = dict(DEFAULT_CATEGORIES)
    for key, tools in own.items():
        name = key.removeprefix("=")
        before = () if key.startswith("=") else table.get(name, ())
        removed = {tool[1:] for tool in tools if tool.startswith("-")}
        added = [tool for tool in tools if not tool.startswith("-")]
        table[name] = tuple(tool for tool in dict.fromkeys([*before, *added]) if tool not in removed)
    return table


PROGRAMS: Mapping[str, frozenset[str]] = {
    "file_read": frozenset({"cat", "head", "tail", "less", "more", "bat", "nl", "sed", "awk"}),
    "file_write": frozenset({"tee", "cp", "mv", "touch", "mkdir", "rm", "ln", "dd", "patch"}),
    "file_list": frozenset({"ls", "find", "tree", "dir", "fd"}),
    "search": frozenset({"grep", "egrep", "fgrep", "rg", "ag", "ack"}),
    "web": frozenset({"curl", "wget", "http", "https"}),
    "git": frozenset({"git", "gh"}),
    "python": frozenset({"python", "python2", "python3", "ipython", "jupyter", "pip", "pip3", "pytest", "uv"}),
}
"""Programs by category, beside those that a category lists as tools."""

_KEYS = ("command", "cmd", "script", "code", "input")
_BETWEEN = regex.compile(r"\n|;|&&|\|\|?|(?<![>&])&(?![>&])")
_FIRST_WORD = regex.compile(
    r"[\s({]*(?:\w+=\S*\s+)*(?:(?:sudo|env|time|nohup|exec|command)\s+(?:(?:-\S+|\w+=\S*)\s+)*)*([^\s'\"()<>]+)"
)
_WRITES = regex.compile(r"(?<![0-9&<>-])>{1,2}\s*(?!&|/dev/null)\S")


def programs_of(arguments: Any) -> set[str]:
    """The programs that a shell call starts, without their folders; ``>`` to a file counts as ``tee``. Empty when unreadable."""
    command = _command(arguments)
    hits = (_FIRST_WORD.match(part) for part in _BETWEEN.split(command))
    programs = {str(hit[1]).rpartition("/")[2] for hit in hits if hit}
    return programs | {"tee"} if _WRITES.search(command) else programs


def does(programs: set[str], category: str) -> bool:
    """Whether one of the programs belongs to the category by the table above."""
    return bool(programs & PROGRAMS.get(category, frozenset()))


def _command(arguments: Any) -> str:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return str(arguments)
    if isinstance(arguments, dict):
        arguments = next((arguments[key] for key in _KEYS if key in arguments), "")
    if isinstance(arguments, list):
        is_wrapped = len(arguments) == 3 and regex.fullmatch(r"-\w*c", str(arguments[1]))  # bash -lc "…"
        return " ".join(map(str, arguments[2:] if is_wrapped else arguments))
    return arguments if isinstance(arguments, str) else ""
