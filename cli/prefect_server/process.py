"""A Prefect API server's own process.

A private one serves until its parent closes the pipe on stdin, however the parent ends. One with a token stays until it is
stopped.
"""

from __future__ import annotations

import fcntl
import gc
import os
import signal
import socket
import sys
import threading
from time import sleep

import uvicorn

from eval_skills.cli.prefect_server.private import prefect_home

FAREWELL_S = 10.0
COLLECTED_EVERY_S = 1.0
"""A client that goes in the middle of a write leaves a transaction that only the garbage collector ends, and with it the lock on
Prefect's SQLite database: collected late, as usual, every other client waits for a minute."""


class _Server(uvicorn.Server):
    """Starts up alone: two servers that migrate one database at the same time break it for each other."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        with (prefect_home() / "eval-skills-server.lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            await super().startup(sockets)
        threading.Thread(target=_collect_garbage, daemon=True).start()


def main(port: int, *, stays: bool) -> None:
    """Serve the Prefect API on 127.0.0.1:`port`; unless it `stays`, leave when stdin reaches its end."""
    if not stays:
        threading.Thread(target=_leave_with_parent, daemon=True).start()
    config = uvicorn.Config(
        "prefect.server.api.server:create_app",
        factory=True,
        host="127.0.0.1",
        port=port,
        log_level="warning",
        timeout_keep_alive=30,
        timeout_graceful_shutdown=2 if stays else 1,
    )
    server = _Server(config)
    server.run()
    sys.exit(0 if server.started else 1)


def _collect_garbage() -> None:
    gc.collect()
    gc.freeze()  # what a server has imported stays, and would be looked through every time
    while True:
        sleep(COLLECTED_EVERY_S)
        gc.collect()


def _leave_with_parent() -> None:
    while os.read(0, 4096):  # not through sys.stdin, whose lock would abort an interpreter that ends for another reason
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    sleep(FAREWELL_S)
    os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]), stays=len(sys.argv) > 2)
