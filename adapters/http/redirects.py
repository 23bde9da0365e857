"""Where a redirect leads, if it is followed: never to another host."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import httpx

from eval_skills.adapters.http.address import shown
from eval_skills.adapters.http.request import Request
from eval_skills.core.errors import InfraError

MAX_REDIRECTS = 10
"""How many redirects one call may follow."""

_FOLLOWED = frozenset({301, 302, 303, 307, 308})


def is_usable(location: str, start: httpx.URL) -> bool:
    """Whether `location` leads from `start` to an address of HTTP, wherever that is."""
    try:
        return start.join(location).scheme in {"http", "https"}
    except httpx.InvalidURL:
        return False


def redirected(request: Request, status: int, location: str | None, hidden: Collection[str]) -> Request | None:
    """The request that follows `request` after a redirect, or None where none is followed.

    None is followed if the status is not a redirect, has no target, or leads to another scheme, host or port: what a skill is
    sent, above all its secret, is for its own host. A 303 becomes a GET without a body: it says that the answer is there.
    `hidden` are names in the query that are added on the wire, and so never taken over from the server.

    Raises:
        InfraError: a POST was answered with 301 or 302, which clients follow with a GET: the input would be lost on the way.
    """
    if status not in _FOLLOWED or location is None:
        return None
    start = httpx.URL(request.url)
    try:
        target = start.join(location)
    except httpx.InvalidURL:
        return None
    if (target.scheme, target.host, target.port) != (start.scheme, start.host, start.port):
        return None
    target = target.copy_with(userinfo=start.userinfo, fragment=None)
    for name in hidden:
        target = target.copy_remove_param(name) if name in target.params else target
    if status in {301, 302} and request.method == "POST":
        to = shown(str(target))
        raise InfraError(f"POST was redirected with {status} to {to}, which drops the body; use the final address")
    if status == 303:
        headers = {name: text for name, text in request.headers.items() if name.lower() != "content-type"}
        return Request("GET", str(target), headers, None)
    return replace(request, url=str(target))


def refuse_circle(trail: list[Request], target: Request) -> None:
    """Stop a chain of redirects that would never end.

    Raises:
        InfraError: `target` has been asked before, or too much has been asked; the message shows the way.
    """
    way = " → ".join(shown(each.url) for each in [*trail[-2:], target])
    if any((each.method, each.url) == (target.method, target.url) for each in trail):
        raise InfraError(f"redirected in a circle: {way}")
    if len(trail) > MAX_REDIRECTS:
        raise InfraError(f"redirected more than {MAX_REDIRECTS} times, last: {way}")
