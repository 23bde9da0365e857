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
from time import sleep, thread_time
from typing import Any

import uvicorn
from sqlalchemy import Engine, event
from uvicorn.server import ServerState

from eval_skills.cli.prefect_server.api_server import never_collected
from eval_skills.cli.prefect_server.existing import prefect_home

FAREWELL_S = 10.0
COLLECTED_EVERY_S, COLLECTED_SHARE = 1.0, 0.03
"""A client that goes in the middle of a write leaves a transaction that only the garbage collector ends, and with it the lock on
Prefect's SQLite database: collected late, as usual, every other client waits for a minute. It may take this share of the time;
while nobody asks anything, nothing is collected."""


class _Server(uvicorn.Server):
    """Starts up alone: two servers that migrate one database at the same time break it for each other."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        with (prefect_home() / "eval-skills-server.lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            await super().startup(sockets)
        threading.Thread(target=_collect_garbage, args=[self.server_state], daemon=True).start()


def main(port: int, *, stays: bool) -> None:
    """Serve the Prefect API on 127.0.0.1:`port`; unless it `stays`, leave when stdin reaches its end."""
    os.umask(os.umask(0o077) | 0o077)  # the database holds what skills were asked; its API is how others see it
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
    with never_collected():
        config.load()  # imports Prefect, and makes its application
    server = _Server(config)
    server.run()
    if not server.started:  # a database that could not be opened leaves a thread behind that would be waited for
        sys.stderr.flush()
        os._exit(1)
    sys.exit(0)


@event.listens_for(Engine, "before_cursor_execute", retval=True)
def _lock_before_reading(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> tuple[str, Any]:
    """Prefect's requests that read, then write, wait for SQLite's lock when they begin.

    Deferred, as Prefect begins them, they are refused at once (HTTP 503) where anybody wrote in between, and each client waits
    for two seconds and more before it asks again.
    """
    return ("BEGIN IMMEDIATE" if statement == "BEGIN DEFERRED" else statement), parameters


def _collect_garbage(served: ServerState) -> None:
    gc.collect()
    gc.freeze()  # what a server has imported stays, and would be looked through every time
    pause_s, answered = COLLECTED_EVERY_S, 0
    while True:
        sleep(pause_s)
        if not served.tasks and served.total_requests == answered:
            continue  # a request that waits for a lock that is held in vain is a task
        answered = served.total_requests
        began = thread_time()
        gc.collect()
        pause_s = max(COLLECTED_EVERY_S, (thread_time() - began) / COLLECTED_SHARE)


def _leave_with_parent() -> None:
    while os.read(0, 4096):  # not through sys.stdin, whose lock would abort an interpreter that ends for another reason
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    sleep(FAREWELL_S)
    os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]), stays=len(sys.argv) > 2)
