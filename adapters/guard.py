"""A program that runs another one and ends it when whoever started both is gone, however that happened.

A run that is killed with SIGKILL cannot stop the services it started. So each of them runs under this guard, whose standard input
is a pipe from the run: when the run is gone, the pipe ends, and the guard ends its whole process group. Standard library only.

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

GRACE_S = 0.3
FAREWELL_S = 2.0
"""How long a program that shares its input may take to end by itself when that ends."""

NOT_FOUND = 127
SHARED = "--shared-input"


def guarded(command: Sequence[str], *, shared_input: bool = False) -> tuple[str, ...]:
    """What to start so that `command` runs under this guard; with `shared_input` it reads our end of the pipe itself."""
    return (sys.executable, "-I", __file__, *([SHARED] if shared_input else []), *command)


def main(arguments: Sequence[str]) -> int:
    """Run a command, with empty standard input or ours; its exit code, or its signal as our own."""
    shared = arguments[0] == SHARED
    command = arguments[1:] if shared else arguments
    signal.signal(signal.SIGTERM, lambda *_: None)  # a handler, for an ignored signal would be ignored by the command too
    try:
        child = subprocess.Popen(command, stdin=None if shared else subprocess.DEVNULL)  # noqa: S603 - the skill's own command
    except OSError as error:
        print(f"cannot start {command[0]!r}: {error.strerror}", file=sys.stderr)
        return NOT_FOUND
    threading.Thread(target=_end_with_the_run, args=(_hung_up if shared else _read_to_its_end,), daemon=True).start()
    code = child.wait()
    if code < 0:
        if -code == signal.SIGTERM:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def _end_with_the_run(wait: Callable[[], None]) -> None:
    wait()
    os.killpg(0, signal.SIGTERM)
    time.sleep(GRACE_S)
    os.killpg(0, signal.SIGKILL)


def _read_to_its_end() -> None:
    while os.read(0, 65536):
        pass


def _hung_up() -> None:
    watch = select.poll()
    watch.register(0, 0)  # hanging up is always reported; what there is to read is not ours
    watch.poll()
    time.sleep(FAREWELL_S)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
