"""What is said of an answer whose JSON gives a key twice in one object: a remark on the item, and one on the run."""

from __future__ import annotations

from collections.abc import Sequence

from eval_skills.core.models import Reason
from eval_skills.core.text import excerpt, plural

DUPLICATE_KEYS = "DUPLICATE_KEYS"
"""The code of the remark. Such an answer is valid for most parsers, which read different values from it (RFC 8259, section 4)."""


def about_duplicate_keys(keys: Sequence[str]) -> Reason:
    """A remark that names `keys`, which an object of an answer gave twice."""
    named = ", ".join(excerpt(key, 60) for key in keys)
    message = f"an object in the answer's JSON gives a key twice: {named}; the last value counts"
    return Reason(code=DUPLICATE_KEYS, message=message, where="answer", informational=True)


def run_remark(skill: str, items: int) -> str:
    """The line on a skill that gave such an answer in this many items of a run."""
    return (
        f"{skill} gave a key twice in one object of its JSON in {plural(items, 'item')}, where the last value counts: see the"
        f" reason {DUPLICATE_KEYS} of each"
    )
