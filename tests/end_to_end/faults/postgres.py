"""A PostgreSQL of the test's own, on 127.0.0.1, and a Prefect server that keeps its records in it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.prefect_server import free_port

MISSING = "there is no PostgreSQL: apt-get install postgresql, or name the folder of its programs in TEST_POSTGRES"
UNPRIVILEGED = "postgres"
"""The user that Debian's package makes: PostgreSQL refuses to run as root."""

PATIENCE_S = 60.0


def programs() -> Path | None:
    """The folder of the newest PostgreSQL's programs; None where there is none."""
    if named := os.environ.get("TEST_POSTGRES"):
        return Path(named)
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))
    on_path = shutil.which("initdb")
    return debian[-1] if debian else Path(on_path).resolve().parent if on_path else None


class Postgres:
    """One cluster, whose tables are in a temporary folder; it can be stopped as by a crash, and started again."""

    def __init__(self, bin_folder: Path, folder: Path) -> None:
        self._bin, self._data = bin_folder, folder / "data"
        self._log = folder / "log.txt"
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._as_user: dict[str, Any] = {"user": UNPRIVILEGED, "group": UNPRIVILEGED} if os.geteuid() == 0 else {}

    @property
    def url(self) -> str:
        """What Prefect's server is told of it."""
        return f"postgresql+asyncpg://prefect@127.0.0.1:{self._port}/prefect"

    def make(self) -> None:
        """Make the cluster, start it, and make an empty database."""
        self._call("initdb", "-D", str(self._data), "-U", "prefect", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
        self.start()
        self._call("createdb", "-h", "127.0.0.1", "-p", str(self._port), "-U", "prefect", "prefect")

    def start(self) -> None:
        """Start it, and return when it answers."""
        options = ["-p", str(self._port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]
        command = [str(self._bin / "postgres"), "-D", str(self._data), *options]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, cwd=self._data, stdout=log, stderr=log, **self._as_user)
        ready = [str(self._bin / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self._port)]
        deadline = time.monotonic() + PATIENCE_S
        while subprocess.run(ready, check=False).returncode != 0:
            assert self._process.poll() is None, self._log.read_text()
            assert time.monotonic() < deadline, self._log.read_text()
            time.sleep(0.05)

    def stop(self) -> None:
        """Stop it at once, as a crash would: what was being written is not."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(timeout=PATIENCE_S)

    def ask(self, sql: str) -> str:
        """What a statement returns, as plain text."""
        where = ("-h", "127.0.0.1", "-p", str(self._port), "-U", "prefect", "-d", "prefect")
        return self._call("psql", *where, "-At", "-c", sql)

    def _call(self, program: str, *arguments: str) -> str:
        command = [str(self._bin / program), *arguments]
        done = subprocess.run(command, cwd=self._data.parent, capture_output=True, text=True, check=False, **self._as_user)
        assert done.returncode == 0, done.stderr
        said: str = done.stdout
        return said.strip()


@contextmanager
def postgres(bin_folder: Path) -> Iterator[Postgres]:
    """A running PostgreSQL with an empty database; both are gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="eval-skills-postgres-"))  # pytest's own folders are closed to other users
    if os.geteuid() == 0:
        shutil.chown(folder, UNPRIVILEGED, UNPRIVILEGED)
    database = Postgres(bin_folder, folder)
    try:
        database.make()
        yield database
    finally:
        database.stop()
        shutil.rmtree(folder)
