"""A host program that is asked by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from eval_skills.adapters.python.host import main as host

Running = Callable[[], list[str]]

SETUP = {"kind": "custom", "init": {}, "spread": False}


class Hosted:
    """A host in a folder, asked by hand."""

    def __init__(self, folder: Path, *options: str) -> None:
        command = [sys.executable, "-I", *options, host.__file__]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def tell(self, params: Any) -> None:
        assert self.process.stdin is not None
        line = json.dumps({"jsonrpc": "2.0", "method": "invoke", "params": params, "id": 7})
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, params: Any) -> Any:
        self.tell(params)
        assert self.process.stdout is not None
        reply = json.loads(self.process.stdout.readline())
        assert (reply.pop("jsonrpc"), reply.pop("id")) == ("2.0", 7)
        return reply

    def load(self, entrypoint: str, **setup: Any) -> Any:
        place, _, attribute = entrypoint.rpartition(":")
        return self.ask(SETUP | {"place": place, "attribute": attribute} | setup)

    def end(self) -> tuple[str, str]:
        out, err = self.process.communicate(timeout=60)
        return out.decode(), err.decode()
