"""``eval-skills view``."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from eval_skills.cli.context import current, existing_store, print_json
from eval_skills.cli.options import SHOWN, PastResults, whole

LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})


def view_command(
    *,
    host: Annotated[
        str, Parameter(group=SHOWN, help="Address to listen on; any but this machine's own asks for a token, which is printed")
    ] = "127.0.0.1",
    port: Annotated[int, Parameter(group=SHOWN, converter=whole, help="Port to listen on; 0 takes one that is free")] = 0,
    no_open: Annotated[bool, Parameter(group=SHOWN, help="Do not open a browser", show_default=False)] = False,
    store: PastResults = None,
) -> int:
    """Open the store in a browser.

    Its pages show every run with its tasks and answers, two runs compared, skills over time, and nights. They are served until
    the call is interrupted (Ctrl-C), and read the store anew each time.

    Example: eval-skills view --port 8090 --no-open
    """
    import secrets
    import webbrowser

    from eval_skills.viewer.guard import LOOPBACK
    from eval_skills.viewer.server import listen, serve

    place = existing_store(store)
    listening = listen(host, port)
    is_local = host in LOCAL
    token = None if is_local else secrets.token_urlsafe(24)
    address = listening.address if token is None else f"{listening.address}?token={token}"
    if current().json:
        print_json({"address": address, "store": place.path})
    else:
        current().say(f"{place.path} is shown at {address}  (Ctrl-C ends it)")
    if not no_open:
        webbrowser.open(address)
    hosts = LOOPBACK if is_local else (*LOOPBACK, host, *_names_of_this_machine())
    serve(place, listening, hosts=hosts, token=token)
    return 0


def _names_of_this_machine() -> list[str]:
    """Under what names others may ask this machine."""
    import socket

    import psutil

    addresses = [each.address for found in psutil.net_if_addrs().values() for each in found if each.family == socket.AF_INET]
    return [socket.gethostname(), socket.getfqdn(), *addresses]
