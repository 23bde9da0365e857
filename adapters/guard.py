"""A program that runs another one and ends it when whoever started both is gone, however that happened.

A run that is killed with SIGKILL cannot stop the services it started. So each of them runs under this guard, whose standard input
is a pipe from the run: when the run is gone, the pipe ends, and the guard ends its whole process group. Standard library only.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

GRACE_S = 0.3
NOT_FOUND = 127


def main(command: Sequence[str]) -> int:
    """Run `command` with empty standard input; its exit code, or its signal as our own."""
    signal.signal(signal.SIGTERM, lambda *_: None)  # a handler, for an ignored signal would be ignored by the command too
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603 - the skill's own command, without a shell
    except OSError as error:
        print(f"cannot start {command[0]!r}: {error.strerror}", file=sys.stderr)
        return NOT_FOUND
    threading.Thread(target=_end_with_the_run, daemon=True).start()
    code = child.wait()
    if code < 0:
        if -code == signal.SIGTERM:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def _end_with_the_run() -> None:
    while os.read(0, 65536):
        pass
    os.killpg(0, signal.SIGTERM)
    time.sleep(GRACE_S)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
