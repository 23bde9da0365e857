"""A Ray cluster of this machine, in processes of its own, as on other machines."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.prefect_server import free_port

PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True)
class RayHead:
    """`client_url` is where clients connect, `gcs` what a process of the cluster finds it by."""

    client_url: str
    gcs: str


@contextmanager
def ray_head(cpus: int = 2) -> Iterator[RayHead]:
    """A head with places for `cpus` workers, which ends with the block.

    It listens on this machine alone, and asks for a token, which this process and its children have meanwhile.
    """
    folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))  # its sockets need a short path
    port, client = free_port(), free_port()
    options = [f"--port={port}", f"--ray-client-server-port={client}", f"--num-cpus={cpus}", f"--temp-dir={folder}"]
    options += ["--node-ip-address=127.0.0.1", "--include-dashboard=false", "--disable-usage-stats", "--block"]
    options += [f"--object-store-memory={100 * 2**20}"]
    program = "import sys; from ray.scripts.scripts import main; sys.exit(main())"
    variables = pytest.MonkeyPatch()
    variables.setenv("RAY_AUTH_MODE", "token")
    variables.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
    variables.setenv("GRPC_ENABLE_FORK_SUPPORT", "0")  # else one client in ten cannot connect (Ray's issue 63202)
    variables.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    with (folder / "head.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", program, "start", "--head", *options],
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        _until_it_listens(client, process, folder / "head.log")
        yield RayHead(f"ray://127.0.0.1:{client}", f"127.0.0.1:{port}")
    finally:
        variables.undo()
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=20)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _until_it_listens(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
