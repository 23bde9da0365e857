"""The viewer's server: the pages of a store for browsers on this machine, read anew for every request."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from eval_skills.core.documents.validation_errors import problems_in
from eval_skills.core.errors import EvalSkillsError, UsageError
from eval_skills.core.store.labels import LabelWriter
from eval_skills.core.viewer_pages import NoSuchPageError
from eval_skills.reporting.escape import visible
from eval_skills.reporting.html.pages import page_assets
from eval_skills.viewer.guard import HEADERS, LOOPBACK, Guard
from eval_skills.viewer.labels import GivenLabel, Labelling
from eval_skills.viewer.latest import Latest
from eval_skills.viewer.live import LiveRuns
from eval_skills.viewer.site import Site

if TYPE_CHECKING:
    import uvicorn

    from eval_skills.core.store import Store


LARGEST_LABEL = 64 * 1024


def application(
    store: Store,
    *,
    labelled_by: str,
    hosts: Iterable[str] = LOOPBACK,
    token: str | None = None,
    is_ending: Callable[[], bool] = lambda: False,
) -> Starlette:
    """The application that answers for a store; `labelled_by` is who gives labels, `hosts` and `token` are those of `Guard`.

    What it streams ends once it `is_ending`.
    """
    site, latest = Site(store), Latest(store)
    labelling = Labelling(store, labelled_by, LabelWriter(store))

    async def page(request: Request) -> Response:
        name = request.path_params.get("name", "")
        try:
            await run_in_threadpool(latest.look)
            text = await run_in_threadpool(site.page, name)
            return Response(text, media_type="text/csv") if name.endswith(".csv") else HTMLResponse(text)
        except NoSuchPageError as error:
            return HTMLResponse(_message(str(error)), status_code=404)
        except EvalSkillsError as error:
            return HTMLResponse(_message(str(error)), status_code=500)

    async def label(request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return PlainTextResponse("a label is sent as application/json\n", status_code=415)
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > LARGEST_LABEL:
                return PlainTextResponse("a label has at most 64 KiB\n", status_code=413)
        try:
            given = GivenLabel.model_validate_json(body)
            return JSONResponse(await run_in_threadpool(labelling.add, given))
        except ValidationError as error:
            return PlainTextResponse(f"{_problems(error, body)}\n", status_code=400)
        except UsageError as error:
            return PlainTextResponse(f"{error}\n", status_code=404)
        except EvalSkillsError as error:
            return PlainTextResponse(f"{error}\n", status_code=500)

    async def live(_: Request) -> Response:
        return StreamingResponse(LiveRuns(store).events(is_ending), media_type="text/event-stream")

    routes = [Route("/", page), Route("/live", live), Route("/labels", label, methods=["POST"]), Route("/{name:path}", page)]
    middleware = [Middleware(Guard, hosts=list(hosts), token=token)]
    return Starlette(routes=routes, middleware=middleware, exception_handlers={Exception: _unexpected})


async def _unexpected(request: Request, error: Exception) -> Response:
    """What a browser is shown of an error that is not one of ours; the server's own log has all of it."""
    text = f"{request.url.path.lstrip('/') or 'index.html'}: {type(error).__name__}: {error}"
    advice = "Other pages are not affected. eval-skills store verify says whether a file of the store is damaged."
    return HTMLResponse(_message(text, advice), status_code=500, headers=HEADERS)


def _problems(error: ValidationError, body: bytes) -> str:
    try:
        return "; ".join(str(problem) for problem in problems_in(error, json.loads(body)))
    except (ValueError, RecursionError):
        return "not JSON"


def _message(*lines: str) -> str:
    said = "".join(f"<p>{escape(visible(line))}</p>" for line in lines)
    assets = page_assets((), libraries=())
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        f'content="{escape(assets.policy)}"><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">'
        '<meta name="color-scheme" content="light dark"><title>This page cannot be shown</title>'
        f"<style>{assets.style}</style></head><body><main><h1>This page cannot be shown</h1>{said}"
        '<p><a href="/index.html">All runs</a></p></main></body></html>'
    )


@dataclass(frozen=True, slots=True)
class Listening:
    """A socket that the server takes over, and the address under which browsers find it."""

    socket: socket.socket
    address: str


def listen(host: str, port: int) -> Listening:
    """Bind a port (0: any that is free).

    Raises:
        UsageError: the host is not an address of this machine, or the port is taken.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen()  # a browser that is faster than the server waits, instead of being refused
    except (OSError, OverflowError) as error:
        bound.close()
        raise UsageError(f"cannot listen on {host} port {port} ({error}); give another --host or --port") from None
    shown = f"[{host}]" if family == socket.AF_INET6 else host
    return Listening(bound, f"http://{shown}:{bound.getsockname()[1]}/")


def server_of(store: Store, *, labelled_by: str, hosts: Iterable[str] = LOOPBACK, token: str | None = None) -> uvicorn.Server:
    """The server of a store, which runs on the socket of a `Listening`. What it streams ends when it does."""
    import uvicorn

    def is_ending() -> bool:
        return server.should_exit

    config = uvicorn.Config(
        application(store, labelled_by=labelled_by, hosts=hosts, token=token, is_ending=is_ending),
        log_level="warning",
        server_header=False,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=3,
    )
    server = uvicorn.Server(config)
    return server
