"""Limits of a process: set by the system, and named in the error when one was reached."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Sequence

from eval_skills.adapters.config import Limits
from eval_skills.core.errors import ContractError, ItemError, SkillError, SkillTimeout

_MIB = 1024 * 1024

_LIMIT_AND_RUN = """
import json, os, resource, sys
for name, pair in json.loads(sys.argv[1]).items():
    resource.setrlimit(getattr(resource, "RLIMIT_" + name.upper()), tuple(pair))
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as error:
    sys.exit(print(f"cannot start {sys.argv[2]!r}: {error.strerror}", file=sys.stderr) or 127)
"""
"""What ``prlimit`` does, where that is not installed."""

_CPU_STRUCK = re.compile(r"\((?:killed by SIGXCPU|exit code 152|[\w ]+ after all of its CPU time)\)")
"""The signal itself, or as a program passes it on that waited for the one that got it (128 + 24); or the SIGKILL that follows."""

_MEMORY_STRUCK = re.compile(
    r"MemoryError|bad_alloc|OutOfMemory|out of memory|cannot allocate memory|memory allocation of \d+ bytes failed|\bENOMEM\b|"
    r"cannot map zero-fill pages|failed to map segment",
    re.I,
)
"""The system refuses memory without a signal: that the limit was reached is known only from what the runtime then prints."""

_FILES_STRUCK = re.compile(r"too many open files|\bEMFILE\b|\bErrno 24\b|\berror 24\b", re.I)


def limited(argv: Sequence[str], limits: Limits) -> tuple[str, ...]:
    """What to start so that `argv` runs under `limits` from its first moment, as does everything that it starts.

    To set them on a process that runs already would miss what it is starting just then.
    """
    values = _values(limits)
    if not values:
        return tuple(argv)
    if (program := shutil.which("prlimit")) is not None:
        return (program, *(f"--{name}={soft}:{hard}" for name, (soft, hard) in values.items()), "--", *argv)
    return (sys.executable, "-I", "-S", "-c", _LIMIT_AND_RUN, json.dumps(values), *argv)


def limit_reached(limits: Limits, text: str) -> str:
    """The limit that explains a failure with this text, its value and what can be done; "" if none does."""
    if limits.cpu_seconds is not None and _CPU_STRUCK.search(text):
        return f"CPU limit of {limits.cpu_seconds} s reached; raise limits.cpuSeconds and --cpu-seconds if it may compute longer"
    if limits.memory_mb is not None and _MEMORY_STRUCK.search(text):
        return f"memory limit of {limits.memory_mb} MB reached; raise limits.memoryMb and --memory-mb if it may hold more"
    if limits.open_files is not None and _FILES_STRUCK.search(text):
        return f"limit of {limits.open_files} open files reached; raise limits.openFiles and --open-files if it may hold more"
    return ""


def name_limit(error: ItemError, limits: Limits) -> ItemError:
    """The error as the skill's own (kind ``skill``, never tried again) where one of its limits was reached, else unchanged."""
    found = "" if isinstance(error, SkillTimeout) else limit_reached(limits, str(error))
    if not found:
        return error
    return SkillError(f"{found}: {error}", latency_ms=error.latency_ms, logs=error.logs, known=error.known)


def too_long(what: str, max_bytes: int) -> ContractError:
    """That an answer is above its limit, and what can be done; kind ``contract``, as for any answer that cannot be taken."""
    advice = "raise adapterConfig.maxOutputBytes and --max-output-bytes if it may be longer"
    return ContractError(f"{what} has more than {max_bytes:,} bytes (maxOutputBytes); {advice}")


def limits_in_force(limits: Limits) -> str:
    """The limits that may explain an end without any message, as a phrase; "" if there are none."""
    said = {"memoryMb": limits.memory_mb, "cpuSeconds": limits.cpu_seconds}
    held = [f"limits.{name} = {value}" for name, value in said.items() if value is not None]
    return f"{' and '.join(held)} {'was' if len(held) == 1 else 'were'} in force" if held else ""


def _values(limits: Limits) -> dict[str, tuple[int, int]]:
    """The soft and hard limit of each resource, by the name that ``prlimit`` has for it; never above what holds already."""
    if not any((limits.memory_mb, limits.cpu_seconds, limits.open_files)):
        return {}
    import resource

    found: dict[str, tuple[int, int]] = {}
    if limits.memory_mb is not None:  # data, not address space: runtimes reserve far more than they use
        found["data"] = _lowered(resource.RLIMIT_DATA, limits.memory_mb * _MIB)
    if limits.cpu_seconds is not None:  # SIGXCPU at the limit, SIGKILL a second later for those who ignore it
        found["cpu"] = _lowered(resource.RLIMIT_CPU, limits.cpu_seconds, slack=1)
    if limits.open_files is not None:
        found["nofile"] = _lowered(resource.RLIMIT_NOFILE, limits.open_files)
    return found


def _lowered(which: int, value: int, slack: int = 0) -> tuple[int, int]:
    import resource

    _, hard = resource.getrlimit(which)
    ceiling = value + slack if hard == resource.RLIM_INFINITY else min(value + slack, hard)
    return min(value, ceiling), ceiling
