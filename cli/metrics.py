"""The options by which a command that stays serves metrics to Prometheus, and the serving."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from cyclopts import Parameter

from eval_skills.cli.context import current
from eval_skills.cli.options import HOW, whole
from eval_skills.core.errors import UsageError

LOOPBACK = "127.0.0.1"
MetricsPort = Annotated[
    int | None,
    Parameter(group=HOW, converter=whole, help="Serve metrics for Prometheus at this port; 0: any [default: none are served]"),
]
MetricsHost = Annotated[str, Parameter(group=HOW, help="Address that --metrics-port listens at; 0.0.0.0 for every one")]


@contextmanager
def metrics_at(port: int | None, host: str, store: str) -> Iterator[None]:
    """Serve the metrics of `store` inside, where a port was given, and say where.

    Raises:
        UsageError: the port is not one, or nothing can listen there.
    """
    if port is None:
        if host != LOOPBACK:
            raise UsageError(f"--metrics-host {host} is where --metrics-port listens; give a port, too")
        yield
        return
    if not 0 <= port <= 65_535:
        raise UsageError(f"--metrics-port {port}: give a port from 1 to 65535, or 0 for any that is free")
    from eval_skills.engine.exposition import metrics_served

    with metrics_served(store, host=host, port=port, tell=current().remark) as address:
        current().remark(f"metrics {address}", style="")
        yield
