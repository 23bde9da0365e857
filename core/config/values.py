"""Types of the values that options and files share, the same words in a skill, in a run's options and in the configuration.

Paths, with the marks by which relative ones are resolved. What a process may be held to, and what may hold it. How much a run may
use before no other item begins, and how often a service is asked. Where its items are executed, as people name it: ``local``,
``dask``, ``ray``, or the address of a cluster of theirs. Names of environment variables, written where a secret must never stand;
people paste the secret itself there.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from eval_skills.core.models.form import Form
from eval_skills.core.rate_limits.rate import checked_rate
from eval_skills.core.text import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

PATH, ID_OR_PATH, STORE = "path", "id or path", "store"
"""Marks in the type of a text that is a path; of one that is a path where it has a slash or an ending such as ``.json``; of one
that is a path unless it is a URL."""


def _not_blank(value: Any) -> Any:
    if not isinstance(value, str | Path) or not str(value).strip():
        raise ValueError("give a path, as text that is not blank")
    return value


WrittenPath = Annotated[Path, BeforeValidator(lambda value: Path(_not_blank(value)))]
"""A path, written as text."""

PathText = Annotated[str, BeforeValidator(lambda value: str(_not_blank(value))), PATH]
"""A path that stays text: requests are sent as JSON."""


MemoryMb = Annotated[int, Field(gt=0, le=2**30)]
"""MiB of data."""

CpuSeconds = Annotated[int, Field(gt=0, le=2**31)]
"""Seconds of computing."""

OpenFiles = Annotated[int, Field(ge=16, le=2**20)]
"""Files, sockets and pipes open at a time. With fewer than 16 no interpreter starts, and its complaint is about a library."""

OutputBytes = Annotated[int, Field(gt=0, le=2**40)]
"""Bytes of one answer."""

SandboxProcesses = Annotated[int, Field(ge=8, le=2**22)]
"""Processes and threads at a time in one sandbox."""

SandboxMb = Annotated[int, Field(gt=0, le=2**30)]
"""MiB of each private folder of a sandbox."""

SANDBOX_PROCESSES, SANDBOX_MB = 1024, 1024

NightFailOn = Literal["regressed", "not-proven"]
"""What fails a night for its caller."""

BackfillMode = Literal["recompute", "rescore", "replay"]
BackfillEvery = Literal["day", "week", "run", "tag"]
"""What a period of a backfill is."""

SandboxName = Literal["none", "bwrap"]
"""What holds a process: nothing, or bubblewrap."""

SandboxNetwork = Literal["declared", "none", "all"]
"""Which processes in a sandbox have the network: those of skills that declare it, none, or all."""

SandboxPaths = Literal["declared", "none"]
"""Who sees, or writes to, more of the file system in a sandbox than its own: skills that declare what, or none."""


AUTO: Literal["auto"] = "auto"
"""As many items in a task run as suit the run."""

_MOST_ITEMS_PER_TASK = 100_000


def _auto_or_whole(value: Any) -> Any:
    if value == AUTO or (type(value) is int and 1 <= value <= _MOST_ITEMS_PER_TASK):
        return value
    if isinstance(value, str) and value.isdecimal() and len(value) < 9:  # of an environment variable
        return _auto_or_whole(int(value))
    raise ValueError(f"give {AUTO}, or a whole number from 1 to {_MOST_ITEMS_PER_TASK:,}; got {value!r}")


ItemsPerTask = Annotated[Annotated[int, Field(ge=1, le=_MOST_ITEMS_PER_TASK)] | Literal["auto"], BeforeValidator(_auto_or_whole)]
"""How many items share one Prefect task run."""

LOCAL, DASK, RAY = "local", "dask", "ray"
"""This process; worker processes on this machine, for the length of the run: those of Dask, or those of Ray."""

RAY_AUTO = "ray://auto"
"""The Ray cluster that this machine is part of."""

_CLUSTER = re.compile(r"(?P<kind>dask(?P<tls>\+tls)?|ray)://(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s/:@\[\]?#]+):(?P<port>\d{1,5})")
_MAX_PORT = 65_535


def cluster_of(task_runner: str) -> tuple[str, int] | None:
    """The host and port that `task_runner` names, of Dask's scheduler or Ray's client server; None for one that names none."""
    found = _CLUSTER.fullmatch(task_runner)
    return (found["host"].strip("[]"), int(found["port"])) if found else None


def is_ray(task_runner: str) -> bool:
    """Whether items are executed by Ray, here or elsewhere."""
    return task_runner == RAY or task_runner.startswith("ray://")


def dask_address(task_runner: str) -> str | None:
    """The scheduler's address in Dask's own words: ``tcp://HOST:PORT``, or ``tls://HOST:PORT`` for ``dask+tls://``."""
    found = _CLUSTER.fullmatch(task_runner)
    if found is None or found["kind"] == RAY:
        return None
    return f"{'tls' if found['tls'] else 'tcp'}://{found['host']}:{found['port']}"


def ray_address(task_runner: str) -> str | None:
    """The address in Ray's own words: ``ray://HOST:PORT`` of a cluster's client server, or ``auto``; None for one of its own."""
    if task_runner == RAY_AUTO:
        return "auto"
    return task_runner if is_ray(task_runner) and task_runner != RAY else None


def _known(task_runner: str) -> str:
    cluster = cluster_of(task_runner)
    if task_runner in (LOCAL, DASK, RAY, RAY_AUTO) or (cluster and 0 < cluster[1] <= _MAX_PORT):
        return task_runner
    raise ValueError(
        f"unknown task runner {task_runner!r}{nearest(task_runner, [LOCAL, DASK, RAY])}; give local (this process), dask or ray "
        "(worker processes on this machine), dask://HOST:PORT (the scheduler of a Dask cluster), ray://HOST:PORT (the client "
        "server of a Ray cluster) or ray://auto (the Ray cluster that this machine is part of)"
    )


TaskRunnerName = Annotated[str, AfterValidator(_known)]
"""``local``, ``dask``, ``dask://HOST:PORT``, ``dask+tls://HOST:PORT`` with the certificates of Dask's own configuration, ``ray``,
``ray://HOST:PORT`` or ``ray://auto``."""


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_LONG = 16
"""From this length on, what looks like a key is not taken for a name."""


def variable_name(text: str) -> str:
    """`text`, if a variable can be called so.

    Raises:
        ValueError: it cannot; the message is a phrase without `text`.
    """
    if not _NAME.fullmatch(text):
        raise ValueError("this is not the name of a variable (letters, digits and _); did you paste the secret itself?")
    return text


VariableName = Annotated[str, AfterValidator(variable_name)]
"""The name of an environment variable, never what it holds."""


def absence(name: str, environ: Mapping[str, str]) -> str:
    """Why the variable `name` holds nothing, as a phrase: it is empty or not set.

    A name that is not set and looks like a key itself (``sk_live_…``) is not shown.
    """
    if name in environ:
        return f"the environment variable {name} is empty"
    if _may_be_a_secret(name):
        return "the environment variable that it names is not set; did you paste the secret itself?"
    return f"the environment variable {name} is not set"


def _may_be_a_secret(name: str) -> bool:
    """Whether `name` is long, has digits, and is not all capitals with underscores, as names are."""
    has_digits, in_capitals = any(map(str.isdigit, name)), name.isupper() and "_" in name
    return not _NAME.fullmatch(name) or (len(name) >= _LONG and has_digits and not in_capitals)


class ProcessLimits(Form, defer_build=True):
    """What every process of a skill is held to; a skill's own limits may be lower."""

    memory_mb: MemoryMb | None = Field(
        title="Memory of a process, MiB", default=None, description="Limit of each skill process in MiB of data", examples=[512]
    )
    cpu_seconds: CpuSeconds | None = Field(
        title="Computing time of a process, s",
        default=None,
        description="Limit of each skill process in seconds of computing",
        examples=[60],
    )
    open_files: OpenFiles | None = Field(
        default=None, description="Limit of each skill process in files open at a time", examples=[256]
    )
    max_output_bytes: OutputBytes | None = Field(
        title="Size of an answer, bytes",
        default=None,
        description="At most this many bytes in one answer, whatever a skill sets for itself; 5,000,000 if it sets nothing",
        examples=[1_000_000],
    )
    sandbox: SandboxName = Field(default="none", description="Where skill processes run: none, or bwrap (bubblewrap)")
    sandbox_network: SandboxNetwork = Field(
        default="declared", description="Who has the network in the sandbox: skills whose adapterConfig declares it, none, or all"
    )
    sandbox_paths: SandboxPaths = Field(
        default="declared",
        description="Who sees or writes to more paths in the sandbox: skills whose adapterConfig declares them, or none",
    )
    sandbox_processes: SandboxProcesses | None = Field(
        default=None, description="Limit of each sandbox in processes and threads at a time; 1024 by default", examples=[256]
    )
    sandbox_mb: SandboxMb | None = Field(
        title="Private folders of the sandbox, MiB",
        default=None,
        description="Limit of each private folder of a sandbox in MiB; 1024 by default",
        examples=[256],
    )


RequestRate = Annotated[str, AfterValidator(checked_rate)]
"""Requests per second, minute or hour: ``10/s``, ``60/min``, ``1000/h``."""


class RunLimits(Form, defer_build=True):
    """How much the skills of one run may use before no other item begins; what is in flight then finishes, and may pass a limit.
    And how often one service is asked, be it by skills or for judging.

    Cost and tokens are what items report themselves, of all calls and attempts of the run, earlier calls that a resume goes on
    with included; judging is apart. The duration is that of one call, from its first item on: a resume has its own.
    """

    max_cost: float | None = Field(
        title="Most cost of the run, USD",
        default=None,
        gt=0,
        le=1e9,
        description="USD that the skills of a run may cost; then no other item begins",
        examples=[5.0],
    )
    max_tokens: int | None = Field(
        title="Most tokens of the run",
        default=None,
        gt=0,
        le=10**15,
        description="Tokens that the skills of a run may use; then no other item begins",
        examples=[1_000_000],
    )
    max_duration_s: float | None = Field(
        title="Most seconds of the call",
        default=None,
        gt=0,
        le=31_536_000,
        description="Seconds that this call may take; then no other item begins, and a resume has as long again",
        examples=[3600.0],
    )
    rate: RequestRate | None = Field(
        title="Most requests to a service",
        default=None,
        description="Requests that each service (a host) gets at most, such as 60/min, 10/s or 1000/h",
        examples=["60/min"],
    )
