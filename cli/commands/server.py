"""``eval-skills server``: a Prefect server with its UI that stays up between calls."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from eval_skills.cli.context import current
from eval_skills.cli.options import whole

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
    """Stop the server that `server start` started.

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
    from eval_skills.cli.output.run import print_json

    if current().json:
        print_json(state)
    else:
        current().out().print(str(state["message"]), markup=False)
    return 0
