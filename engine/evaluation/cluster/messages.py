"""What the flow's process and the driver of its Ray cluster, a process of its own, say to each other over a socket pair."""

from __future__ import annotations

import pickle
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from dataclasses import dataclass

_LENGTH = 8


@dataclass(frozen=True, slots=True)
class Opening:
    """What the driver is to do: the first message to it. `run` is a pickled `WorkerRun`; `paths` are where modules are found.

    `address` is Ray's own word for a cluster, None for one of the run's own, whose files are in `folder`.
    """

    address: str | None
    folder: str
    concurrency: int
    run: bytes
    paths: tuple[str, ...]
    processes_per_share: int
    no_worker_s: float


@dataclass(frozen=True, slots=True)
class Work:
    """A share for a worker: pickled with the headers of its trace, as the driver has no use for it."""

    key: str
    share: bytes


@dataclass(frozen=True, slots=True)
class Cancel:
    """Nobody waits for this share any more."""

    key: str


@dataclass(frozen=True, slots=True)
class Close:
    """The run has ended."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The first worker waits for work."""


@dataclass(frozen=True, slots=True)
class Lost:
    """There is no cluster, or not any more, and why."""

    why: str


@dataclass(frozen=True, slots=True)
class Done:
    """The outcomes of a share, pickled: all of them, or (`early`) those that are known. Or the exception that a worker raised."""

    key: str
    outcomes: bytes
    early: bool = False


@dataclass(frozen=True, slots=True)
class Died:
    """So many worker processes died at a share, and no other will try."""

    key: str
    processes: int


@dataclass(frozen=True, slots=True)
class Closed:
    """The workers have closed their adapters; `remarks` are what those have to say."""

    remarks: list[str]


Order = Opening | Work | Cancel | Close
Report = Ready | Lost | Done | Died | Closed


def send(writer: StreamWriter, message: Order | Report) -> None:
    """Send a message; to nobody, where the other side is gone."""
    packed = pickle.dumps(message)
    writer.write(len(packed).to_bytes(_LENGTH, "big") + packed)


async def receive(reader: StreamReader) -> Order | Report | None:
    """The next message; None: the other side is gone."""
    try:
        length = int.from_bytes(await reader.readexactly(_LENGTH), "big")
        message: Order | Report = pickle.loads(await reader.readexactly(length))  # noqa: S301 - of our own other process
    except (IncompleteReadError, ConnectionError):
        return None
    return message
