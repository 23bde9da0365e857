"""The nouns and the arithmetic. Imports nothing else of ours.

`load_skill` is found here on first use, so that `import eval_skills.core.errors` costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["lazily", "load_skill"]


def lazily(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package whose names are imported on first use. `modules` has, by the name of a module below the
    package, the names that are found there, with blanks between them."""
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def found(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return found


__getattr__ = lazily(__name__, {"skills": "load_skill"})
