"""A service on the loopback that allows so many requests per second, and refuses the others with 429 and Retry-After."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Bucket:
    """Allows `per_s` requests per second, and `burst` at once after a while."""

    per_s: float
    burst: float
    answered: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._left, self._at, self._lock = self.burst, time.monotonic(), threading.Lock()

    def wait_s(self) -> float:
        """0 where a request is allowed now, which is then counted; else how long it must wait."""
        with self._lock:
            now = time.monotonic()
            self._left, self._at = min(self.burst, self._left + (now - self._at) * self.per_s), now
            if self._left >= 1:
                self._left -= 1
                self.answered.append(now)
                return 0.0
            self.refused.append(now)
            return (1 - self._left) / self.per_s


class LimitedService(ThreadingHTTPServer):
    """Answers "ok" to what its bucket allows."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, bucket: Bucket) -> None:
        self.bucket = bucket
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: LimitedService
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        wait_s = self.server.bucket.wait_s()
        body = b"slow down" if wait_s else b'"ok"'
        self.send_response(429 if wait_s else 200)
        if wait_s:
            self.send_header("Retry-After", str(math.ceil(wait_s)))
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Nothing: its answers say it all."""


@contextmanager
def limited_service(per_s: float, burst: float) -> Iterator[LimitedService]:
    """The service, while it runs."""
    with LimitedService(Bucket(per_s, burst)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
