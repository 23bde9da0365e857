"""What a GET finds out about the address of a skill, on the way that its requests would take, without sending one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from eval_skills.adapters.http.client import HttpClient, HttpReply
from eval_skills.adapters.http.errors import status_error
from eval_skills.adapters.http.redirects import redirected, refuse_circle
from eval_skills.adapters.http.request import Request
from eval_skills.core.errors import InfraError

_PAGES = frozenset({"text/html", "application/xhtml+xml"})


@dataclass(frozen=True, slots=True)
class Glance:
    """The last answer on that way, without its body, and why a run would go no further ("" if it is not redirected there)."""

    reply: HttpReply
    refusal: str = ""


async def glance(client: HttpClient, request: Request, secret_query: list[tuple[str, str]]) -> Glance:
    """Send GETs where `request` would go; redirects count as if it had been sent itself, for a POST is followed to less places.

    Raises:
        ItemError: nobody answers, or not in HTTP.
    """
    trail = [request]
    while True:
        reply = await client.glance(replace(trail[-1], method="GET", body=None), secret_query)
        try:
            target = redirected(trail[-1], reply.status, reply.headers.get("location"), [name for name, _ in secret_query])
            if target is None:
                return Glance(reply)
            refuse_circle(trail, target)
        except InfraError as error:
            return Glance(reply, str(error))
        trail.append(target)


def http_doubts(reply: HttpReply, *, sent: bool) -> tuple[str, ...]:
    """What is doubtful about an address that answers a GET so, `sent` with credentials or without; most statuses are no doubt,
    for skills are asked by POST."""
    status = reply.status
    if status in {401, 403, 407}:
        return ("it refuses the credentials that a run sends" if sent else "it asks for credentials, and authType names none",)
    if 300 <= status < 400 and (refused := status_error(status, reply.headers, "", reply.address)) is not None:
        return (str(refused),)
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    if 200 <= status < 300 and kind in _PAGES:
        return (f"it answers with a page for people ({kind}), perhaps to log in, where a run reads JSON",)
    return (f"it reports trouble of its own: HTTP {status}",) if status >= 500 and status != 501 else ()
