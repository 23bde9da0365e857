"""``eval-skills server``: a Prefect server that stays up between calls; ``eval-skills serve``: deployments on it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from eval_skills.cli.configuration import Mark, Own
from eval_skills.cli.context import current, print_json
from eval_skills.cli.metrics import LOOPBACK, MetricsHost, MetricsPort, metrics_at
from eval_skills.cli.options import whole
from eval_skills.cli.requests import viewer_known
from eval_skills.core.errors import RunError, UsageError

if TYPE_CHECKING:
    from eval_skills.deployments.deployment_file import DeploymentEntry

server_app = App(name="server", help="Keep a Prefect server with its UI running, so that every call starts in about 3 s.")


@server_app.command
def start(
    *,
    port: Annotated[
        int | None, Parameter(converter=whole, help="Port on 127.0.0.1 [default: PREFECT_SERVER_API_PORT, else 4200]")
    ] = None,
) -> int:
    """Start the server in the background and wait until it answers.

    Starting it twice does nothing. Its state is kept below PREFECT_HOME, and its UI shows every run.

    Example: eval-skills server start
    """
    from eval_skills.cli.prefect_server.local import start_server

    return _show(start_server(port))


@server_app.command
def stop() -> int:
    """Stop the server that server start started.

    Example: eval-skills server stop
    """
    from eval_skills.cli.prefect_server.local import stop_server

    return _show(stop_server())


@server_app.command
def status() -> int:
    """Say whether a server answers, and where.

    The exit code is 0 when one does, and 1 when not.

    Example: eval-skills server status
    """
    from eval_skills.cli.prefect_server.local import server_status

    found = server_status()
    _show(found)
    return 0 if found["running"] else 1


def _show(state: dict[str, str | int | bool | None]) -> int:
    if current().json:
        print_json(state)
    else:
        current().out().print(str(state["message"]), markup=False)
    return 0


CONCURRENT_RUNS = 2


def serve_command(
    *,
    only: Annotated[
        list[str] | None, Parameter(consume_multiple=1, help="Serve these deployments alone [default: all of the file]")
    ] = None,
    file: Annotated[
        Path | None, Mark.PATH, Parameter(help="A prefect.yaml with deployments [default: the one of this package]")
    ] = None,
    limit: Annotated[
        int | None,
        Own("counts flow runs; find's counts skills"),
        Parameter(converter=whole, help="Flow runs at a time, over all deployments [default: 2]"),
    ] = None,
    metrics_port: MetricsPort = None,
    metrics_host: MetricsHost = LOOPBACK,
) -> int:
    """Serve nightly, evaluate, pipeline, backfill and monitor from this process, until it is interrupted.

    They show in the Prefect UI with their forms and schedules. Runs start here, in the current folder, without a work pool or
    worker; the schedules are paused when the command ends. It needs a server that stays: see server start. With --metrics-port
    Prometheus gets what the store says of the last runs, nights and monitors.

    Example: eval-skills serve --only nightly
    """
    from eval_skills.deployments.deployment_file import SHIPPED, deployment_entries, refuse_endless_nights

    most = CONCURRENT_RUNS if limit is None else limit
    if most < 1:
        raise UsageError(f"--limit {most} would run nothing; give 1 or more")
    source = file or SHIPPED
    entries = deployment_entries(source, only or ())
    refuse_endless_nights(entries, most)
    url = _use_lasting_api()

    from eval_skills.cli.prefect_server.api_server import past_proxies
    from eval_skills.deployments.serving import prepared, serve_deployments, served_elsewhere

    deployments = prepared(entries, source)
    with past_proxies(url), metrics_at(metrics_port, metrics_host, current().config({}).store):
        _show_deployments(entries, url)
        if others := served_elsewhere(entries):
            current().remark(
                f"{', '.join(others)}: served by another process as well, or until a minute ago; when one of them ends, "
                "what both serve is paused, and the other one runs nothing until it is started again"
            )
        with viewer_known():  # the processes of the runs inherit it
            serve_deployments(deployments, limit=most, tell=current().remark)
    return 0


def _use_lasting_api() -> str:
    """The API of a server that stays, for Prefect to use; a private one would leave with this command, its schedules with it."""

    from eval_skills.cli.prefect_server.api_server import CLIENT_SETTINGS, apply, check_connections, is_alive
    from eval_skills.cli.prefect_server.existing import existing_api

    check_connections()
    url = existing_api()
    if url is None:
        raise UsageError(
            "serve needs a Prefect server that stays; start one with `eval-skills server start`, or set PREFECT_API_URL"
        )
    if not is_alive(url):
        raise RunError(f"the Prefect API at {url} does not answer; start it, or unset PREFECT_API_URL")
    apply(CLIENT_SETTINGS)
    os.environ["PREFECT_API_URL"] = url
    return url


def _show_deployments(entries: list[DeploymentEntry], url: str) -> None:
    if current().json:
        print_json({"url": url, "deployments": [{"deployment": each.full_name, **each.to_json()} for each in entries]})
        return
    current().say(f"serving at {url.removesuffix('/api')}; Ctrl-C ends it and pauses the schedules")
    for entry in entries:
        times = ", ".join(f"{each.cron} {each.timezone}" for each in entry.schedules if each.active)
        current().say(f"  {entry.full_name:<20} {times or 'on request'}")
