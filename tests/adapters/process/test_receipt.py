"""Whether a program that has ended had read its input: a pipe or a socket, by the version of Python."""

from __future__ import annotations

import asyncio
import os
import socket
from typing import IO

from eval_skills.adapters.process.child import Receipt
from tests.tables import each_row

LINE = b"{}\n"


def ends(kind: str) -> tuple[IO[bytes] | socket.socket, int]:
    """The program's end, as a descriptor, behind ours."""
    if kind == "socket":
        ours, theirs = socket.socketpair()
        return ours, theirs.detach()
    read, write = os.pipe()
    return os.fdopen(write, "wb", 0), read


@each_row(
    ("kind", "does", "is_unread"),
    [
        (kind, does, is_unread)
        for kind in ("pipe", "socket")
        for does, is_unread in (("reads it", False), ("leaves it", True), ("ends before it", True), ("stays", None))
    ],
)
async def test_it_is_known_whether_what_was_written_was_read(kind: str, does: str, is_unread: bool | None) -> None:
    ours, theirs = ends(kind)
    pipe, _ = await asyncio.get_running_loop().connect_write_pipe(asyncio.BaseProtocol, ours)
    if does == "ends before it":
        os.close(theirs)
    receipt = Receipt(pipe)
    pipe.write(LINE)
    receipt.note_written()
    if does == "reads it":
        assert os.read(theirs, 100) == LINE
    if does in ("reads it", "leaves it"):
        os.close(theirs)
    await asyncio.sleep(0)
    if is_unread is not None:
        assert receipt.is_unread == is_unread
    receipt.close()
    if not pipe.is_closing():
        pipe.abort()
    await asyncio.sleep(0.01)  # until the loop has closed it
    if does == "stays":
        assert os.read(theirs, 100) + os.read(theirs, 100) == LINE  # ours is the only end: it holds nothing open
        os.close(theirs)
