"""The most memory that this process ever held."""

from __future__ import annotations

import re
import resource
import sys
from pathlib import Path


def peak_mb() -> float:
    """Peak resident memory of this process so far, in MB (10^6 bytes).

    Where the system tells it per address space it is read there: `getrusage` counts what the parent held at the fork, too.
    """
    status = Path("/proc/self/status")
    if status.is_file() and (found := re.search(r"VmHWM:\s+(\d+) kB", status.read_text(encoding="ascii"))):
        return int(found[1]) * 1024 / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
