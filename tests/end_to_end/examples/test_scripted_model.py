"""The scripted model of the Agent Skills' example, as the program that the README's demonstration runs."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

PROGRAM = Path(__file__).parents[3] / "examples" / "agent-skills" / "scripted_model.py"


def begin(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(PROGRAM), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def first_line(program: subprocess.Popen[str]) -> str:
    assert program.stdout is not None
    return program.stdout.readline().strip()


def test_ctrl_c_is_for_the_command_whose_exit_code_it_has() -> None:
    with begin("--", "sh", "-c", 'trap "exit 7" INT; echo {address}; while :; do sleep 0.05; done') as program:
        assert first_line(program).startswith("http://127.0.0.1:")
        os.killpg(program.pid, signal.SIGINT)
        assert program.communicate(timeout=60) == ("", "")
    assert program.returncode == 7


def test_callers_that_go_away_and_ctrl_c_leave_no_traceback() -> None:
    with begin() as program:
        address = urlsplit(first_line(program))
        with socket.create_connection((address.hostname, address.port)) as caller:
            caller.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 99\r\n\r\n{")
            caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # it resets the connection
        with socket.create_connection((address.hostname, address.port)) as caller:
            caller.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert b"501" in caller.recv(4096), "it still serves"
        program.send_signal(signal.SIGINT)
        assert program.communicate(timeout=60) == ("", "")
    assert program.returncode == 130
