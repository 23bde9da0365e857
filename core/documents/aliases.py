"""What YAML's anchors can make of a document: parts that lie in themselves, and few lines that stand for millions of parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from eval_skills.core.errors import InputError

MAX_PARTS = 1_000_000
"""How many parts a document with anchors may stand for."""


def refuse_cycles(document: Any) -> None:
    """Raises InputError, with its path, for a part that contains itself: walking through it would never end."""
    above: dict[int, None] = {}
    rest: list[tuple[Any, str, bool]] = [(document, "", False)]
    done: set[int] = set()
    while rest:
        part, path, left = rest.pop()
        if left:
            above.pop(id(part))
            done.add(id(part))
        elif id(part) in above:
            raise InputError("this part contains itself (a YAML anchor used inside its own value); write it out", path=path)
        elif isinstance(part, dict | list) and id(part) not in done:
            above[id(part)] = None
            rest.append((part, path, True))
            inside = part.items() if isinstance(part, dict) else enumerate(part)
            rest += [
                (each, f"{path}[{key}]" if isinstance(part, list) else f"{path}.{key}".lstrip("."), False) for key, each in inside
            ]


def refuse_growth(document: Any) -> None:
    """Raises ValueError where the parts that anchors repeat are more than `MAX_PARTS` in all; one in itself counts once."""
    sizes: dict[int, int] = {}
    rest: list[tuple[Any, bool]] = [(document, False)]
    while rest:
        part, left = rest.pop()
        if left:
            sizes[id(part)] = 1 + sum(sizes.get(id(each), 1) for each in _inside(part))
            if sizes[id(part)] > MAX_PARTS:
                raise ValueError(f"its anchors (&name, *name) make more than {MAX_PARTS:,} parts of it; write out what is needed")
        elif isinstance(part, dict | list) and id(part) not in sizes:
            sizes[id(part)] = 1
            rest.append((part, True))
            rest += [(each, False) for each in _inside(part)]


def _inside(part: Any) -> Iterable[Any]:
    return part.values() if isinstance(part, dict) else part
