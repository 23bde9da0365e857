"""Processor time, which a busy machine stretches far less than the time on the wall."""

from __future__ import annotations

import os
from pathlib import Path
from time import process_time

from eval_skills.cli.prefect_server.api_server import ApiServer


class CpuClock:
    """Counts the processor time of this process and of a server from its making on."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server.process.pid if server.process else None
        self._client_began, self._server_began = process_time(), cpu_s(self._server)

    def per(self, items: int) -> str:
        """What each of so many items has cost so far, as a phrase; the server's part is unknown without ``/proc``."""
        client, server = process_time() - self._client_began, cpu_s(self._server)
        text = f"{1000 * client / items:.3g} ms of CPU per item here"
        if server is None or self._server_began is None:
            return text
        return f"{text}, {1000 * (server - self._server_began) / items:.3g} ms in the server"


def cpu_s(pid: int | None) -> float | None:
    """The processor time of a process so far, in s; None without ``/proc``, or when it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
