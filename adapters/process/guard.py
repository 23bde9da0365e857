"""A program that runs another one and ends it when the process that started both is gone, however that happened.

A run that is killed with SIGKILL cannot stop the services it started. So each of them runs under this guard, whose standard input
is a pipe from the run: when the run is gone, the pipe ends, and the guard ends its whole process group. Standard library only.

It also takes in what the program starts and leaves behind, be it in another session: that ends when the program ends.

A program that is spoken to on its standard input shares it with the guard, which then only waits for the other end to hang up.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

GRACE_S = 0.3
EXIT_WAIT_S = 2.0
"""How long a program that shares its input may take to end by itself when that ends."""

_POLL_S = 0.005
_PR_SET_CHILD_SUBREAPER = 36
"""Its number in <linux/prctl.h>."""

NOT_FOUND = 127
SHARED = "--shared-input"


def guarded(command: Sequence[str], *, shared_input: bool = False) -> tuple[str, ...]:
    """What to start so that `command` runs under this guard; with `shared_input` it reads our end of the pipe itself."""
    return (sys.executable, "-IS", __file__, *([SHARED] if shared_input else []), *command)


def main(arguments: Sequence[str]) -> int:
    """Run a command, with empty standard input or ours; its exit code, or its signal as our own."""
    shared = arguments[0] == SHARED
    command = arguments[1:] if shared else arguments
    signal.signal(signal.SIGTERM, lambda *_: None)  # a handler, for an ignored signal would be ignored by the command too
    _take_in_orphans()
    try:
        child = subprocess.Popen(command, stdin=None if shared else subprocess.DEVNULL)  # noqa: S603 - the skill's own command
    except OSError as error:
        print(f"cannot start {command[0]!r}: {error.strerror}", file=sys.stderr)
        return NOT_FOUND
    threading.Thread(target=_end_with_the_run, args=(_hung_up if shared else _read_to_its_end,), daemon=True).start()
    code = child.returncode = _outlived(child.pid)
    _end_what_is_left()
    if code < 0:
        if -code == signal.SIGTERM:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def _take_in_orphans() -> None:
    """Become the parent of every process below us whose own parent ends, where the system knows of that."""
    with suppress(OSError, AttributeError, ImportError):
        from ctypes import CDLL

        CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _outlived(pid: int) -> int:
    """Wait for `pid`, and bury the orphans that end meanwhile; its exit code."""
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == pid:
            return os.waitstatus_to_exitcode(status)


def _end_what_is_left() -> None:
    end = time.monotonic() + EXIT_WAIT_S
    while _kill_children() and time.monotonic() < end:  # what is below one becomes ours as soon as it is gone
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(_POLL_S)


def _kill_children() -> list[int]:
    children = _children()
    for pid in children:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return children


def _children() -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{thread}/children") as listed:
                found += map(int, listed.read().split())
    return found


def _end_with_the_run(wait: Callable[[], None]) -> None:
    wait()
    os.killpg(0, signal.SIGTERM)
    time.sleep(GRACE_S)
    if _kill_children():
        time.sleep(GRACE_S)  # in which the main thread ends what is below them, and us
    os.killpg(0, signal.SIGKILL)


def _read_to_its_end() -> None:
    while os.read(0, 65536):
        pass


def _hung_up() -> None:
    watch = select.poll()
    watch.register(0, 0)  # hanging up is always reported; what there is to read is not ours
    watch.poll()
    time.sleep(EXIT_WAIT_S)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
