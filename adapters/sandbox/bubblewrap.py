"""Running a program inside bubblewrap: what it can see, and whether this machine can do it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from eval_skills.adapters.sandbox.installations import OURS, installations
from eval_skills.adapters.sandbox.limits import limited_processes
from eval_skills.adapters.sandbox.mounts import MIB, SYSTEM, can_be_hidden, is_shown, mounts, names_of, private_paths, view_of
from eval_skills.core.config.values import SANDBOX_MB, SANDBOX_PROCESSES

BWRAP = "bwrap"
PROBE_S = 60.0
"""How long the sandbox may take to run a program that does nothing; only ends a hang."""

PRIVATE_TMP, PRIVATE_MEMORY = "/tmp", "/dev/shm"  # noqa: S108 - the sandbox's own

_HIDDEN = ("/home", "/root", "/run", "/tmp", "/var/tmp")  # noqa: S108 - emptied, not used
_NAMESPACES = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
_ROOT = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
_READ_ONLY = ("--remount-ro", "/proc", "--remount-ro", "/dev")
_RESOLVER = Path("/etc/resolv.conf")
_PACKAGES = "lib*/python3*/*-packages/eval_skills"

_SWITCHES = {
    "/proc/sys/kernel/unprivileged_userns_clone": "0",
    "/proc/sys/user/max_user_namespaces": "0",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1",
}
"""Settings of the kernel, and the value of each that forbids user namespaces."""

_FORBIDDEN = ("namespace", "uid map", "gid map", "Operation not permitted", "No permissions")


@dataclass(frozen=True, slots=True)
class Sandboxed:
    """What to start for a program in a sandbox, and which paths it sees there (`is_shown`)."""

    argv: tuple[str, ...]
    view: Mapping[Path, bool]


def sandboxed(
    argv: Sequence[str],
    *,
    folder: Path,
    env: Mapping[str, str],
    network: bool,
    hidden: Iterable[Path] = (),
    show: Iterable[Path] = (),
    writable: Iterable[Path] = (),
    processes: int = SANDBOX_PROCESSES,
    folder_mb: int = SANDBOX_MB,
) -> Sandboxed:
    """What to start so that `argv` runs in a sandbox, in `folder`.

    The root file system is read-only. The home folders, the folder we were called in, ``/run`` and the folders of temporary
    files are empty, writable and private, but for `folder`, the `installations` of what runs, and what is to be shown (`show`),
    which are read-only; what is `writable` is shared with the machine. The built-in benchmarks and what is `hidden` are empty or
    cannot be read wherever they lie, but for `folder`, if that is below; so is what only root may read. ``HOME`` is empty,
    writable and private, whether it exists out here or not. Processes of others are not visible, and nothing below ``/proc`` and
    ``/sys`` can be written, which would set the machine's own kernel where we are root; no further namespaces can be made either.
    At most `processes` run at a time, threads counted, and each private folder holds `folder_mb` MiB. Without `network` there is
    a loopback of its own and nothing else. When the program ends, or the one that started it, everything that it started ends
    too.
    """
    personal = {*map(Path, _HIDDEN), Path.cwd(), Path.home(), Path.home() / ".local"}
    installed = list(installations(argv, folder, env, personal))
    away = [*_hidden_folders(Path.cwd(), Path.home()), *private_paths(), *_answers(installed), *filter(can_be_hidden, hidden)]
    shared = list(writable)
    view = view_of(shown=[folder, *installed, *show, *shared, *([_RESOLVER] if network else [])], hidden=away)
    memory = ["--size", str(folder_mb * MIB), "--tmpfs", PRIVATE_MEMORY]
    words = [*_ROOT, *memory, *_READ_ONLY, *mounts(view, folder_mb, _under_all_names(shared)), *_home(env, view)]
    share = ["--share-net"] if network else []
    limited = limited_processes(argv, processes)
    return Sandboxed((BWRAP, *_NAMESPACES, *share, *words, "--chdir", str(folder), "--", *limited), view)


def holds_answers(path: Path, folder: Path, hidden: Iterable[Path]) -> bool:
    """Whether `path` lies in what is `hidden`, or in our benchmarks, and not in the `folder` of the skill itself."""
    real, own = path.resolve(), folder.resolve()
    return any(
        real.is_relative_to(place) and not (own.is_relative_to(place) and real.is_relative_to(own))
        for place in (each.resolve() for each in (*hidden, *_answers(())))
    )


def why_no_sandbox() -> str:
    """Why no program can be run in a sandbox here, and what can be done about it; "" if all is well."""
    program = shutil.which(BWRAP)
    if program is None:
        return (
            f"there is no {BWRAP} on PATH; install bubblewrap (on Debian: apt-get install bubblewrap), or run without a sandbox"
        )
    return _why_not(program)


def sandbox_found_no_program(stderr: str) -> bool:
    """Whether a sandbox ended with these words because it could not start the program."""
    return f"{BWRAP}: execvp" in stderr


@cache
def _why_not(program: str) -> str:
    nothing = [sys.executable, "-I", "-S", "-c", ""]
    words = sandboxed(nothing, folder=OURS, env=os.environ, network=False, folder_mb=1).argv
    try:
        done = subprocess.run(  # noqa: S603 - asks bubblewrap whether it works
            [program, *words[1:]], capture_output=True, timeout=PROBE_S, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{program} does not work here: {error}"
    if done.returncode == 0:
        return ""
    said = " ".join(done.stderr.decode(errors="replace").split())[-300:]
    return f"{program} does not work here ({said or f'exit code {done.returncode}'}); {_cause(said)}, or run without a sandbox"


def _cause(said: str) -> str:
    """What bubblewrap's last words mean, and what can be done about it."""
    if "Unknown option" in said:
        return "this bubblewrap is too old: install version 0.7 or later"
    if any(word in said for word in _FORBIDDEN):
        where = [f"{path} is {value}" for path, value in _SWITCHES.items() if _setting(path) == value]
        return f"user namespaces are {_switched_off(where)} for this account or container: allow them"
    if "execvp" in said or "failed to execute" in said:
        return f"its test program {sys.executable} could not be started there: use an interpreter that everybody may read"
    return "make it work for this account"


def _switched_off(where: Iterable[str]) -> str:
    found = " and ".join(where)
    return f"switched off ({found})" if found else "probably switched off"


def _setting(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def _hidden_folders(cwd: Path, home: Path) -> list[Path]:
    """The folders that are emptied: those that exist, outermost only, and none that the system itself lives in."""
    wanted = {Path(path).resolve() for path in (*_HIDDEN, cwd, home)}
    there = [path for path in sorted(wanted, key=lambda path: len(path.parts)) if path.is_dir() and not _is_system(path)]
    return [path for path in there if not _below(path, (other for other in there if other != path))]


def _is_system(path: Path) -> bool:
    return any(path.is_relative_to(system) or system.is_relative_to(path) for system in SYSTEM)


def _home(env: Mapping[str, str], view: Mapping[Path, bool]) -> list[str]:
    """The words that give a program a home folder of its own: ``HOME`` itself, or the one for temporary files where that lies
    in a part of the system that cannot be written to."""
    home = Path(os.path.abspath(env.get("HOME") or PRIVATE_TMP))
    if not is_shown(home, view):
        return ["--dir", str(home)]
    return [] if home in view else ["--setenv", "HOME", PRIVATE_TMP]


def _answers(installed: Iterable[Path]) -> Iterator[Path]:
    """The folders of the benchmarks that come with eval-skills: ours, and those of any other in these installations."""
    packages = [OURS.parent, *(found for root in installed for found in root.glob(_PACKAGES))]
    for package in packages:
        yield from (file.parent for file in (package / "benchmarks").glob("*/benchmark.*"))


def _under_all_names(paths: Iterable[Path]) -> set[Path]:
    return {name for path in paths for name in names_of(path.absolute())}


def _below(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)
