"""Tools by intent: which tool names count as reading a file, searching, using a shell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
"""The categories that are always there. One `bash` call satisfies seven of the eight, whatever it ran."""


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
