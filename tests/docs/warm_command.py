"""The command line with its imports done: each call is a fork of one process, which saves the seconds that its start takes.

Pages call `eval-skills` some hundred times; a shim of that name, in front on their PATH, hands its arguments, variables, folder
and streams to the process that waits here, and ends with the exit code of the fork.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

SHIM = """#!{python} -ISs
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    call = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(call).to_bytes(4, "big")], [0, 1, 2])
    server.sendall(call)
    code = server.recv(16)
sys.exit(int(code))
"""
IMPORTED = ("eval_skills.flows.pipeline", "eval_skills.cli.main", "pandas", "pyarrow.dataset", "pyarrow.parquet", "rich.progress")


@contextmanager
def warm_command(folder: Path) -> Iterator[Path]:
    """A folder for the PATH, with `eval-skills` in it."""
    address = str(folder / "warm")
    shim = folder / "bin" / "eval-skills"
    shim.parent.mkdir()
    shim.write_text(SHIM.format(python=sys.executable, address=address), encoding="utf-8")
    shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
    process = subprocess.Popen([sys.executable, "-m", __name__, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    try:
        yield shim.parent
    finally:
        process.terminate()
        process.communicate()


def serve(address: str) -> None:
    """Fork for each call, until the process is ended."""
    for name in IMPORTED:
        import_module(name)
    import_module("eval_skills.scorers.judging.provider").warm_up()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        print("ready", flush=True)
        while True:
            caller, _ = server.accept()
            if os.fork() == 0:
                server.close()
                _answer(caller)
            caller.close()
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _answer(caller: socket.socket) -> None:
    """Make the call in one more fork, and tell its exit code."""
    size, streams, _, _ = socket.recv_fds(caller, 4, 3)
    call = b""
    while len(call) < int.from_bytes(size, "big"):
        call += caller.recv(1 << 16)
    arguments, folder, variables = json.loads(call)
    if (child := os.fork()) == 0:
        caller.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)
        _call(arguments)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    caller.sendall(str(code).encode())
    os._exit(0)


def _call(arguments: list[str]) -> None:
    from prefect.context import refresh_global_settings_context

    from eval_skills.cli.main import main
    from eval_skills.cli.prefect_server.private import CLIENT_SETTINGS, QUIET, apply

    apply(CLIENT_SETTINGS if {"-v", "--verbose"} & set(arguments) else CLIENT_SETTINGS | QUIET)
    refresh_global_settings_context()
    sys.argv = ["eval-skills", *arguments]
    main()


if __name__ == "__main__":
    serve(sys.argv[1])
