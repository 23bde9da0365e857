"""Who may ask the viewer's server: a browser on this machine that was sent here by nobody else, or who has the token."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "eval-skills-token"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; object-src 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""What every answer says beside the policy that stands in each page."""


class Guard:
    """Answers 403 to requests that another site had a browser send, and 401 to those without the `token`, where there is one.

    A name that was rebound to this machine (DNS rebinding) is refused for its Host; a page of another site for its Origin or
    ``Sec-Fetch-Site``. `hosts` are the names under which the server is asked, each without a port. The token arrives once in the
    address, ``?token=…``, and stays as a cookie, so that no link carries it.
    """

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str], token: str | None = None) -> None:
        self.app = app
        self.hosts = frozenset(host.lower() for host in hosts)
        self.token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if problem := self._problem(headers):
            await PlainTextResponse(f"{problem}\n", status_code=403)(scope, receive, _with_headers(send))
            return
        if self.token is not None and not self._has_token(headers):
            await self._ask_for_token(scope, receive, send)
            return
        await self.app(scope, receive, _with_headers(send))

    def _problem(self, headers: dict[str, str]) -> str | None:
        host = headers.get("host", "")
        if _name(host) not in self.hosts:
            return f"this server is not {host!r}; ask it under {', '.join(sorted(self.hosts))}"
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return f"requests from pages of {origin!r} are not answered"
        if headers.get("sec-fetch-site", "none") in {"cross-site", "same-site"} and headers.get("sec-fetch-mode") != "navigate":
            return "requests from pages of other sites are not answered"
        return None

    def _has_token(self, headers: dict[str, str]) -> bool:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except Exception:  # noqa: BLE001 - http.cookies raises several kinds for what a stranger may send: no token then
            return False
        return cookie is not None and self._is_token(cookie.value)

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), (self.token or "").encode())

    async def _ask_for_token(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if self._is_token(given):
            answer = RedirectResponse(f"/{scope['path'].lstrip('/')}", status_code=303)  # two slashes would begin another host
            answer.set_cookie(COOKIE, given, httponly=True, samesite="strict")
            await answer(scope, receive, _with_headers(send))
            return
        text = "a token is needed; open the address that eval-skills view printed\n"
        await PlainTextResponse(text, status_code=401)(scope, receive, _with_headers(send))


def _name(host: str) -> str:
    """A Host without its port, in lower case."""
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdigit() and not host.endswith("]") else host.lower()


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return sent
