"""The environment of a child process: an allow-list, never a copy of ours."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

ALLOWED = frozenset({"PATH", "HOME", "LANG", "TZ", "TMPDIR"})
ALLOWED_PREFIX = "LC_"


def child_environment(extra: Mapping[str, str], passed: Iterable[str], ours: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment of a child: the allowed variables of `ours` (default: this process's), those named in
    `passed`, and `extra`, which wins. A variable that is not set is left out.
    """
    ours = os.environ if ours is None else ours
    names = {name for name in ours if name in ALLOWED or name.startswith(ALLOWED_PREFIX)} | set(passed)
    return {name: ours[name] for name in sorted(names) if name in ours} | dict(extra)
