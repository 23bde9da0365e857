"""A server that does its worst, by route; a program of its own, so that what it holds open is not ours.

It prints its ports: one that speaks HTTP, and one that speaks TLS with the certificate in the file it is given.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
import sys
from collections import Counter
from collections.abc import Awaitable, Callable

Reader = asyncio.StreamReader
Writer = asyncio.StreamWriter
Route = Callable[[Writer], Awaitable[None]]

TLS_RECORD = b"\x16"
EVENTS = ("Content-Type: text/event-stream", "Transfer-Encoding: chunked")
ANSWERS: dict[str, tuple[bytes, *tuple[str, ...]]] = {
    "half-a-json": (b'{"answer": [1, 2',),
    "too-many": (b"slow down", "429 Too Many Requests"),
    "broken": (b"Traceback (most recent call last): ...", "500 Internal Server Error"),
    "overloaded": (b"<html>busy</html>", "503 Service Unavailable", "Retry-After: 3600"),
    "not-there": (b"<html>no such page</html>", "404 Not Found"),
    "circle": (b"", "307 Temporary Redirect", "Location: /circle"),
    "elsewhere": (b"", "307 Temporary Redirect", "Location: http://127.0.0.1:1/collect?all"),
    "invalid-utf-8": (b'"\xff\xfe"', "200 OK", "Content-Type: application/json"),
    "deep-json": (b"[" * 100_000 + b"]" * 100_000,),
    "huge-number": (b"9" * 100_000,),
    "healthy": (b'"ok"',),
}
"""Routes that answer at once: with a body, a status and headers, as `answer` takes them."""

SAID: dict[str, bytes] = {
    "stream-is-overloaded": b'event: error\ndata: {"type": "overloaded_error"}\n\n',
    "stream-reports-an-error": b'event: error\ndata: {"type": "invalid_request"}\n\n',
    "stream-falls-silent": b'data: "ok"\n\n',
    "stream-stays-open": b'data: "ok"\n\ndata: [DONE]\n\n',
}
"""Streams that say this, and then nothing for as long as anybody listens."""

ROUTES: dict[str, Route] = {}
"""Routes that do worse."""

ASKED: Counter[str] = Counter()


def route(handle: Route) -> Route:
    ROUTES[handle.__name__.replace("_", "-")] = handle
    return handle


def answer(writer: Writer, body: bytes = b'"ok"', status: str = "200 OK", *headers: str) -> None:
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    writer.write("\r\n".join([*head, "", ""]).encode() + body)


def begin(writer: Writer, *headers: str) -> None:
    writer.write("\r\n".join(["HTTP/1.1 200 OK", *headers, "", ""]).encode())


def chunk(writer: Writer, text: bytes) -> None:
    writer.write(b"%x\r\n%s\r\n" % (len(text), text))


@route
async def never_answers(writer: Writer) -> None:
    await asyncio.sleep(600)


@route
async def drips_for_ever(writer: Writer) -> None:
    begin(writer, "Content-Length: 1000000")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.01)


@route
async def promises_more(writer: Writer) -> None:
    begin(writer, "Content-Length: 1000")
    writer.write(b'"ok"')
    await asyncio.sleep(600)


@route
async def byte_by_byte(writer: Writer) -> None:
    for byte in b'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"ok"':
        writer.write(bytes([byte]))
        await asyncio.sleep(0.002)


@route
async def closes_at_once(writer: Writer) -> None:
    writer.close()


@route
async def resets(writer: Writer) -> None:
    begin(writer, "Content-Length: 1000")
    await writer.drain()
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@route
async def closes_in_the_body(writer: Writer) -> None:
    begin(writer, "Content-Length: 1000")
    writer.write(b'{"out')
    writer.close()


@route
async def no_http(writer: Writer) -> None:
    writer.write(b"220 mail.example ESMTP\r\n\r\n")
    writer.close()


@route
async def too_many_at_first(writer: Writer) -> None:
    answer(writer) if ASKED["too-many-at-first"] > 1 else answer(writer, b"", "429 Too Many Requests", "Retry-After: 0")


@route
async def ever_further(writer: Writer) -> None:
    answer(writer, b"", "307 Temporary Redirect", f"Location: /ever-further?{ASKED['ever-further']}")


@route
async def huge_headers(writer: Writer) -> None:
    answer(writer, b'"ok"', "200 OK", f"X-Much: {'x' * 10_000_000}")


@route
async def many_headers(writer: Writer) -> None:
    answer(writer, b'"ok"', "200 OK", *(f"X-{number}: x" for number in range(100_000)))


@route
async def body_of_50_mb(writer: Writer) -> None:
    begin(writer, "Content-Length: 50000002")
    for text in (b'"', *([b"x" * 1_000_000] * 50), b'"'):
        writer.write(text)
        await writer.drain()


@route
async def error_of_50_mb(writer: Writer) -> None:
    writer.write(b"HTTP/1.1 500 Oh\r\nContent-Length: 50000000\r\n\r\n")
    for _ in range(50):
        writer.write(b"x" * 1_000_000)
        await writer.drain()


@route
async def two_answers(writer: Writer) -> None:
    answer(writer)
    answer(writer, b'"the answer to nobody"')


@route
async def longer_than_it_says(writer: Writer) -> None:
    begin(writer, "Content-Length: 4")
    writer.write(b'"ok"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"wrong"')


@route
async def stream_ends_early(writer: Writer) -> None:
    begin(writer, *EVENTS)
    chunk(writer, b'data: "ok"\n\n')
    writer.write(b"0\r\n\r\n")


@route
async def stream_breaks_off(writer: Writer) -> None:
    begin(writer, *EVENTS)
    chunk(writer, b'data: "ok"\n\n')
    writer.close()


@route
async def stream_never_ends(writer: Writer) -> None:
    begin(writer, *EVENTS)
    while True:
        chunk(writer, b": nothing yet\n\n" * 1000)
        await writer.drain()


@route
async def stream_without_lines(writer: Writer) -> None:
    begin(writer, *EVENTS)
    while True:
        chunk(writer, b"data" * 10_000)
        await writer.drain()


async def serve(reader: Reader, writer: Writer) -> None:
    try:
        while True:
            if (first := await reader.readexactly(1)) == TLS_RECORD:
                answer(writer, b"this is the plain port", "400 Bad Request")
                writer.close()
                return
            head = first + await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode().partition("?")[0].strip("/")
            length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
            body = await reader.readexactly(length)
            behaves = bool(body) and json.loads(body)["input"]["do"] == "behave"
            ASKED[path] += not behaves  # an item that behaves may overtake the one that does not
            if behaves and b"text/event-stream" in head:
                answer(writer, b'data: "ok"\n\ndata: [DONE]\n\n', "200 OK", "Content-Type: text/event-stream")
            elif behaves:
                answer(writer)
            elif path in ANSWERS:
                answer(writer, *ANSWERS[path])
            elif path in SAID:
                begin(writer, *EVENTS)
                chunk(writer, SAID[path])
                await asyncio.sleep(600)
            else:
                await ROUTES[path](writer)
            await writer.drain()
    except (OSError, asyncio.IncompleteReadError):
        writer.close()


async def silence(reader: Reader, writer: Writer) -> None:
    await asyncio.sleep(600)


async def main(certificate: str) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    plain = await asyncio.start_server(serve, "127.0.0.1", 0)
    secure = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    mute = await asyncio.start_server(silence, "127.0.0.1", 0)
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)  # clients that hang up are what this is about
    print(json.dumps([each.sockets[0].getsockname()[1] for each in (plain, secure, mute)]), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)  # until nobody is there any more


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
