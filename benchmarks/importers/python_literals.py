"""Lists of objects that a Python file writes as literal calls, such as ``TASKS = [Task(id=1, …)]``; nothing in it is executed."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from eval_skills.core.errors import InputError

MAX_BYTES = 20_000_000


def listed_literals(file: Path) -> list[tuple[int, dict[str, Any]]]:
    """The line and the keyword arguments of each element of the longest list of calls (or of dicts) that a name is assigned.

    Calls inside of an element are objects, too: ``Action(name="a")`` is ``{"name": "a"}``.

    Raises:
        InputError: it cannot be read, is not Python, or assigns no such list; or an element is not made of literals.
    """
    lists = [node.value for node in _tree(file).body if isinstance(node, ast.Assign | ast.AnnAssign)]
    found = [each.elts for each in lists if isinstance(each, ast.List) and each.elts and _is_object(each.elts[0])]
    if not found:
        raise InputError("it assigns no list of objects, such as TASKS = [Task(…)]", source=file)
    return [(element.lineno, _object(element, file)) for element in max(found, key=len)]


def _tree(file: Path) -> ast.Module:
    try:
        if file.stat().st_size > MAX_BYTES:
            raise InputError(f"over {MAX_BYTES:,} bytes", source=file)
        return ast.parse(file.read_bytes(), filename=file.name)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", source=file) from None
    except (SyntaxError, ValueError) as error:
        raise InputError(f"is not Python: {error}", source=file) from None
    except (RecursionError, MemoryError):
        raise InputError("is nested too deeply", source=file) from None


def _is_object(node: ast.expr) -> bool:
    return isinstance(node, ast.Dict) or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name))


def _object(node: ast.expr, file: Path) -> dict[str, Any]:
    value = _value(node, file)
    if not isinstance(value, dict):
        raise InputError("expected an object like the others of the list", source=f"{file}:{node.lineno}")
    return value


def _value(node: ast.expr, file: Path) -> Any:
    if isinstance(node, ast.List | ast.Tuple):
        return [_value(each, file) for each in node.elts]
    if isinstance(node, ast.Dict) and None not in node.keys:
        return {
            str(_value(key, file)): _value(value, file)
            for key, value in zip(node.keys, node.values, strict=True)
            if key is not None
        }
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args and all(key.arg for key in node.keywords):
        return {str(key.arg): _value(key.value, file) for key in node.keywords}
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise InputError("expected a literal: nothing in the file is executed", source=f"{file}:{node.lineno}") from None
