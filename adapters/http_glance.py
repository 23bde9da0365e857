"""A look at the address of a skill, on the way that its requests would take, without sending one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from eval_skills.adapters.http_client import HttpClient, HttpReply
from eval_skills.adapters.http_redirect import redirected, refuse_circle
from eval_skills.adapters.request import Request
from eval_skills.core.errors import InfraError


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
