"""The nouns and the arithmetic. Imports nothing else of ours.

`load_skill` is found here on first use, so that `import eval_skills.core.errors` costs nothing.
"""

from __future__ import annotations

from typing import Any

__all__ = ["load_skill"]


def __getattr__(name: str) -> Any:
    if name == "load_skill":
        from eval_skills.core.skills import load_skill

        return load_skill
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
