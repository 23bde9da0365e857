"""Running a program inside bubblewrap: what it can see, and whether this machine can do it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from eval_skills.adapters.sandbox.mounts import SYSTEM, can_be_hidden, is_shown, mounts, private_paths, view_of

BWRAP = "bwrap"
PROBE_S = 60.0
"""How long the sandbox may take to run a program that does nothing; only ends a hang."""

PRIVATE_TMP = "/tmp"  # noqa: S108 - the sandbox's own

_HIDDEN = ("/home", "/root", "/run", "/tmp", "/var/tmp")  # noqa: S108 - emptied, not used
_NAMESPACES = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
_RESOLVER = Path("/etc/resolv.conf")
_PACKAGES = "lib*/python3*/*-packages/eval_skills"
_PACKAGE = Path(__file__).resolve().parents[2]


def sandboxed(
    argv: Sequence[str], *, folder: Path, env: Mapping[str, str], network: bool, hidden: Iterable[Path] = ()
) -> tuple[str, ...]:
    """What to start so that `argv` runs in a sandbox, in `folder`.

    The root file system is read-only. The home folders, the folder we were called in, ``/run`` and the folders of temporary
    files are empty, writable and private, but for `folder` and the installations of the program and of Python, which are
    read-only. The built-in benchmarks and what is `hidden` are empty or cannot be read wherever they lie, but for `folder`, if
    that is below; so is what only root may read. ``HOME`` is empty, writable and private, whether it exists out here or not.
    Processes of others are not visible. Without `network` there is a loopback of its own and nothing else.
    When the program ends, or the one that started it, everything that it started ends too.
    """
    installed = list(_installations(argv[0], folder, env))
    away = [*_hidden_folders(Path.cwd(), Path.home()), *private_paths(), *_answers(installed), *filter(can_be_hidden, hidden)]
    view = view_of(shown=[folder, *installed, *([_RESOLVER] if network else [])], hidden=away)
    words = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", *mounts(view), *_home(env, view)]
    share = ["--share-net"] if network else []
    return (BWRAP, *_NAMESPACES, *share, *words, "--chdir", str(folder), "--", *argv)


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
    words = (program, *_NAMESPACES, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", PRIVATE_TMP)
    try:
        done = subprocess.run(  # noqa: S603 - asks bubblewrap whether it works
            [*words, sys.executable, "-I", "-S", "-c", ""], capture_output=True, timeout=PROBE_S, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{program} does not work here: {error}"
    if done.returncode == 0:
        return ""
    said = " ".join(done.stderr.decode(errors="replace").split())[-300:]
    cause = "user namespaces are probably switched off for this account or container"
    return f"{program} does not work here ({said}); {cause}: allow them, or run without a sandbox"


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
    packages = [_PACKAGE, *(found for root in installed for found in root.glob(_PACKAGES))]
    for package in packages:
        yield from (file.parent for file in (package / "benchmarks").glob("*/benchmark.*"))


def _below(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _installations(program: str, folder: Path, env: Mapping[str, str]) -> Iterator[Path]:
    """Where the program, Python and the code that we bring for it are installed."""
    yield _PACKAGE / "adapters"
    yield from (Path(sys.prefix), Path(sys.base_prefix))
    for name in (program, "python3", "python"):
        found = shutil.which(str(folder / name)) if "/" in name else shutil.which(name, path=env.get("PATH"))
        if found is not None:
            yield from _installation(Path(os.path.abspath(found)))


def _installation(program: Path) -> Iterator[Path]:
    """The folder above the ``bin`` of a program, if that is one for it alone (a virtual environment, a version of Node), or above
    the ``shims`` of a manager of versions; else the program and what it is a link to."""
    for place in (program, program.resolve()):
        root = place.parent.parent
        is_own = place.parent.name in {"bin", "shims"} and root not in (Path.home(), Path.home() / ".local")
        yield root if is_own else place
    settings = program.parent.parent / "pyvenv.cfg"
    if settings.is_file():
        home = [
            line.partition("=")[2].strip()
            for line in settings.read_text(errors="replace").splitlines()
            if line.partition("=")[0].strip() == "home"
        ]
        yield from (Path(base).parent for base in home if Path(base).is_absolute())
