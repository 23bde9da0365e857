"""``eval-skills view``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from eval_skills.cli.context import current, existing_store, print_json
from eval_skills.cli.options import RESULTS, SHOWN, PastResults, whole
from eval_skills.core.errors import UsageError
from eval_skills.core.text import plural

if TYPE_CHECKING:
    from eval_skills.core.store import Store

LATEST = "latest"
LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})


def view_command(
    *,
    host: Annotated[
        str, Parameter(group=SHOWN, help="Address to listen on; any but this machine's own asks for a token, which is printed")
    ] = "127.0.0.1",
    port: Annotated[int, Parameter(group=SHOWN, converter=whole, help="Port to listen on; 0 takes one that is free")] = 0,
    no_open: Annotated[bool, Parameter(group=SHOWN, help="Do not open a browser", show_default=False)] = False,
    base_url: Annotated[
        str | None,
        Parameter(group=SHOWN, help="Address under which others reach the viewer; artifacts in Prefect link to pages below it"),
    ] = None,
    label_as: Annotated[
        str | None, Parameter(group=SHOWN, help="Who gives the labels [default: the user of this machine]")
    ] = None,
    export: Annotated[
        Path | None, Parameter(group=RESULTS, help="Write the pages of --run into this folder, to be opened from disk, and end")
    ] = None,
    run: Annotated[
        list[str] | None,
        Parameter(group=RESULTS, consume_multiple=1, help="Runs of the export, each an id or latest [default: latest]"),
    ] = None,
    store: PastResults = None,
) -> int:
    """Open the store in a browser.

    Its pages show every run with its tasks and answers, two runs compared, skills over time, and nights. They are served until
    the call is interrupted (Ctrl-C), and read the store anew each time. Answers can be labelled pass or fail; labels lie in the
    store, for eval-skills judge calibrate.

    Example: eval-skills view --port 8090 --no-open

    Example: eval-skills view --export site --run latest
    """
    import secrets
    import webbrowser
    from urllib.parse import urlsplit

    from eval_skills.core.viewer_pages import checked_base_url
    from eval_skills.viewer.first_page import prepared

    place = existing_store(store)
    if export is not None:
        return _export(place, export, run or [LATEST])
    public = None if base_url is None else checked_base_url(base_url)
    if run is not None:
        raise UsageError("--run names the runs of an export; give --export, too, or leave it out: all runs are shown")
    with prepared(place):
        from eval_skills.viewer.guard import LOOPBACK
        from eval_skills.viewer.server import listen, server_of

        listening = listen(host, port)
        is_local = host in LOCAL
        token = None if is_local else secrets.token_urlsafe(24)
        base = listening.address if public is None else public
        address = base if token is None else f"{base}?token={token}"
        if current().json:
            print_json({"address": address, "store": place.path})
        else:
            current().say(f"{place.path} is shown at {address}  (Ctrl-C ends it)")
        if not no_open:
            webbrowser.open(address)
        hosts = LOOPBACK if is_local else (*LOOPBACK, host, *_names_of_this_machine())
        hosts = hosts if public is None else (*hosts, str(urlsplit(public).hostname))
        server_of(place, labelled_by=label_as or _user(), hosts=hosts, token=token).run(sockets=[listening.socket])
        return 0


def _export(store: Store, folder: Path, given: list[str]) -> int:
    from eval_skills.engine.stored_runs.run_ids import resolve_run_id
    from eval_skills.viewer.export import export_pages

    runs = list(dict.fromkeys(resolve_run_id(store, each, "nothing to export") for each in given))
    with _progress() as tell:
        written = export_pages(store, runs, folder, tell=tell)
    pages = [name for name in written if name.endswith(".html")]
    if current().json:
        print_json({"folder": str(folder), "files": written, "runs": runs})
    else:
        current().say(f"{plural(len(pages), 'page')} of {plural(len(runs), 'run')}; open {folder / 'index.html'}")
    return 0


@contextmanager
def _progress() -> Iterator[Callable[[int, int], object]]:
    """A bar on stderr, where that is a terminal, while pages are written; it is gone afterwards."""
    from rich.progress import Progress

    console = current().err()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        writing = bar.add_task("pages")
        yield lambda done, of: bar.update(writing, completed=done, total=of)


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in some containers
        return f"user {os.getuid()}"


def _names_of_this_machine() -> list[str]:
    """Under what names others may ask this machine."""
    import socket

    import psutil

    addresses = [each.address for found in psutil.net_if_addrs().values() for each in found if each.family == socket.AF_INET]
    return [socket.gethostname(), socket.getfqdn(), *addresses]
