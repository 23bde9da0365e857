"""One thing that a skill's folder should have."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """`code` names it (words joined by ``-``, no code inside another one), `met` says whether it is so.

    `otherwise` is the sentence for the case that it is not: what is wrong, and what would be right.
    """

    code: str
    met: bool
    otherwise: str
