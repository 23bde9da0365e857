"""``eval-skills serve``: the deployments, run by this process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from eval_skills.cli.configuration import Mark
from eval_skills.cli.context import current
from eval_skills.cli.options import whole
from eval_skills.core.errors import RunError, UsageError

if TYPE_CHECKING:
    from eval_skills.deployments.deployment_file import DeploymentEntry

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
        int | None, Parameter(converter=whole, help="Flow runs at a time, over all deployments [default: 2]")
    ] = None,
) -> int:
    """Serve nightly, evaluate, pipeline, backfill and monitor from this process, until it is interrupted.

    They show in the Prefect UI with their forms and schedules. Runs start here, in the current folder, without a work pool or
    worker; the schedules are paused when the command ends. It needs a server that stays: see `server start`.

    Example: eval-skills serve --only nightly
    """
    from eval_skills.deployments.deployment_file import SHIPPED, deployment_entries

    most = CONCURRENT_RUNS if limit is None else limit
    if most < 1:
        raise UsageError(f"--limit {most} would run nothing; give 1 or more")
    source = file or SHIPPED
    entries = deployment_entries(source, only or ())
    url = _use_standing_api()

    from eval_skills.deployments.serving import prepared, serve_deployments

    deployments = prepared(entries, source)
    _show(entries, url)
    serve_deployments(deployments, limit=most)
    return 0


def _use_standing_api() -> str:
    """The API of a server that stays, for Prefect to use; a private one would leave with this command, its schedules with it."""
    import os

    from eval_skills.cli.prefect_server.private import is_alive, standing_api
    from eval_skills.cli.prefect_server.settings import CLIENT_SETTINGS, apply

    url = standing_api()
    if url is None:
        raise UsageError(
            "serve needs a Prefect server that stays; start one with `eval-skills server start`, or set PREFECT_API_URL"
        )
    if not is_alive(url):
        raise RunError(f"the Prefect API at {url} does not answer; start it, or unset PREFECT_API_URL")
    apply(CLIENT_SETTINGS)
    os.environ["PREFECT_API_URL"] = url
    return url


def _show(entries: list[DeploymentEntry], url: str) -> None:
    from eval_skills.cli.output.run import print_json

    if current().json:
        print_json({"url": url, "deployments": [{"deployment": each.full_name, **each.to_json()} for each in entries]})
        return
    current().say(f"serving at {url.removesuffix('/api')}; Ctrl-C ends it and pauses the schedules")
    for entry in entries:
        times = ", ".join(f"{each.cron} {each.timezone}" for each in entry.schedules if each.active)
        current().say(f"  {entry.full_name:<20} {times or 'on request'}")
