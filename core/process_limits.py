"""What a process may be held to, and what may hold it: the same words in a skill, in a run's options and in the configuration."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

MemoryMb = Annotated[int, Field(gt=0, le=2**30)]
"""MiB of data."""

CpuSeconds = Annotated[int, Field(gt=0, le=2**31)]
"""Seconds of computing."""

OpenFiles = Annotated[int, Field(ge=16, le=2**20)]
"""Files, sockets and pipes open at a time. With fewer than 16 no interpreter starts, and its complaint is about a library."""

OutputBytes = Annotated[int, Field(gt=0, le=2**40)]
"""Bytes of one answer."""

SandboxName = Literal["none", "bwrap"]
"""What holds a process: nothing, or bubblewrap."""

SandboxNetwork = Literal["declared", "none", "all"]
"""Which processes in a sandbox have the network: those of skills that declare it, none, or all."""
