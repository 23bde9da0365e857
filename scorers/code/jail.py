"""A sandbox for foreign code that needs nothing but Python: no network, no files, no other processes, and bounds on the rest."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from eval_skills.scorers.code.seccomp import no_processes

BWRAP = "bwrap"
HERE = Path(__file__).parent
INSIDE = "/code"
"""Where the sandbox has our programs."""

PROBE_S = 60.0
_MIB = 1024 * 1024
_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a process may take: CPU time in seconds, memory and the size of a file in MiB."""

    cpu_s: int
    memory_mb: int
    files_mb: int = 64

    def apply(self) -> None:
        """Set them for this process, and for what it starts."""
        bounds = {
            resource.RLIMIT_CPU: self.cpu_s,
            resource.RLIMIT_AS: self.memory_mb * _MIB,
            resource.RLIMIT_FSIZE: self.files_mb * _MIB,
            resource.RLIMIT_CORE: 0,
        }
        for which, most in bounds.items():
            hard = resource.getrlimit(which)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(which, (most, most))


def jailed(program: str, *arguments: str, files_mb: int = 64, seccomp: int | None = None) -> tuple[str, ...]:
    """What to start so that a program of this folder runs in the sandbox, with the standard library alone.

    It sees the system's libraries and Python's installation, read-only, and an empty folder of `files_mb` MiB for temporary
    files. Everything in it ends with it, or with the process that started it. `seccomp` is a file descriptor to read a filter of
    system calls from.
    """
    words = [*_bwrap(files_mb), "--ro-bind", str(HERE), INSIDE, *_WRITABLE_NO_MORE]
    words += ["--chdir", _TMP, "--setenv", "PYTHONHASHSEED", "0"]
    words += [] if seccomp is None else ["--seccomp", str(seccomp)]
    return (*words, "--", _python(), "-I", "-S", f"{INSIDE}/{program}", *arguments)


WORKSPACE, BENCHMARK = "/workspace", "/benchmark"
"""Where the sandbox of a command has the folder that it works in, and the benchmark's."""

_MAX_PROCESSES, _HOME_MB = 256, 64


def jailed_command(command: str, workspace: Path, benchmark: Path | None) -> tuple[str, ...]:
    """What to start so that a command of the shell runs in the sandbox, in `workspace`, which it may write to.

    It sees the system's programs and Python's installation, read-only, the benchmark's folder likewise (``$BENCHMARK``), and an
    empty home folder of `_HOME_MB` MiB. There is no network. Everything that it starts ends with it, or with the process that
    started it.
    """
    words = [*_bwrap(_HOME_MB), "--bind", str(workspace), WORKSPACE]
    words += [] if benchmark is None else ["--ro-bind", str(benchmark), BENCHMARK, "--setenv", "BENCHMARK", BENCHMARK]
    words += _WRITABLE_NO_MORE
    path = f"{Path(_python()).parent}:/usr/local/bin:/usr/bin:/bin"
    for name, value in {"PATH": path, "HOME": _TMP, "TMPDIR": _TMP, "LANG": "C.UTF-8"}.items():
        words += ["--setenv", name, value]
    bounded = f'ulimit -u {_MAX_PROCESSES} 2>/dev/null; exec /bin/sh -c "$1"'
    return (*words, "--chdir", WORKSPACE, "--", "/bin/sh", "-c", bounded, "sh", command)


_TMP = "/tmp"  # noqa: S108 - the sandbox's own

_WRITABLE_NO_MORE = ("--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/")
"""After everything that is to lie in them is there."""


def _bwrap(tmp_mb: int) -> list[str]:
    """How every sandbox begins: it shares nothing, sees the system and Python read-only, and has `tmp_mb` MiB at `_TMP`."""
    apart = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"]
    own = ["--proc", "/proc", "--dev", "/dev", "--size", str(tmp_mb * _MIB), "--tmpfs", _TMP]
    return [shutil.which(BWRAP) or BWRAP, *apart, *_system(), *own]


@contextmanager
def filter_of_calls() -> Iterator[tuple[int, ...]]:
    """A file descriptor to read the filter from that lets no processes be started; none where this machine has none."""
    written = no_processes()
    if written is None:
        yield ()
        return
    with tempfile.TemporaryFile() as file:
        file.write(written)
        file.seek(0)
        yield (file.fileno(),)


def why_no_jail() -> str:
    """Why no code can be run in the sandbox here; "" where it can."""
    program = shutil.which(BWRAP)
    if program is None:
        return f"there is no {BWRAP} on PATH; install bubblewrap (on Debian: apt-get install bubblewrap)"
    return _why_not()


@cache
def _why_not() -> str:
    command = [*jailed("solution.py")]
    command[-1:] = ["-c", ""]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PROBE_S, stdin=subprocess.DEVNULL)  # noqa: S603 - our own
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{BWRAP} does not work here: {error}"
    if done.returncode == 0:
        return ""
    said = " ".join(done.stderr.decode(errors="replace").split())[-300:]
    return f"{BWRAP} does not work here ({said or f'exit code {done.returncode}'}); see eval-skills doctor"


def _python() -> str:
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def _system() -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for folder in map(Path, _SYSTEM):
        if folder.is_symlink():
            yield from ("--symlink", os.readlink(folder), str(folder))
        elif folder.is_dir():
            yield from ("--ro-bind", str(folder), str(folder))
    yield from ("--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache")
    for prefix in dict.fromkeys(_installations()):
        yield from ("--ro-bind", prefix, prefix)


def _installations() -> Sequence[str]:
    """Where Python lies, under all names that it is called by, unless the system has it."""
    prefixes = [sys.base_prefix, sys.base_exec_prefix, os.path.realpath(sys.base_prefix)]
    return [prefix for prefix in prefixes if not Path(prefix).is_relative_to("/usr") or Path(prefix).is_relative_to("/usr/local")]
