"""A real object storage on this machine for tests: moto's server, which speaks S3, with a look at every request."""

from __future__ import annotations

import os
import signal
import threading
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.store.remote import mirror

_numbers = count()


class ObjectStorage:
    """The server. `before` and `after` are called with the method and path of each request, before and after it is carried out.

    Where `before` returns a status, the request is not carried out and that is the answer, with `body`.
    """

    def __init__(self) -> None:
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import WSGIRequestHandler, make_server

        class Quiet(WSGIRequestHandler):
            def log_request(self, *_: object) -> None:
                return

        self._answer: Any = DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", 0, self._application, threaded=True, request_handler=Quiet)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.port}"
        self.forget()

    def forget(self) -> None:
        """Look at requests no more, and forget those that were seen."""
        self.requests: list[tuple[str, str]] = []
        self.before: Callable[[str, str], str | None] = lambda method, path: None
        self.body = b""
        self.after: Callable[[str, str], object] = lambda method, path: None

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def of(self, method: str) -> list[str]:
        """The paths of the requests with this method so far, without the bucket."""
        return [path.split("/", 2)[-1] for seen, path in self.requests if seen == method]

    def _application(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        self.requests.append((method, path))
        if (status := self.before(method, path)) is not None:
            start_response(status, [("content-type", "text/plain")])
            return [self.body]
        answer = list(self._answer(environ, start_response))
        self.after(method, path)
        return answer


@pytest.fixture(scope="session")
def object_storage_server() -> Iterator[ObjectStorage]:
    server = ObjectStorage()
    yield server
    server.stop()


@pytest.fixture
def object_storage(object_storage_server: ObjectStorage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ObjectStorage:
    """The server, for a machine with the credentials for it; a store that is opened again looks for what is new again."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "GOOGLE_", "AZURE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ENDPOINT_URL", object_storage_server.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "the-key-id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "the-secret-key")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "machine"))
    monkeypatch.setattr(mirror, "OPEN_S", 0.0)
    object_storage_server.forget()
    return object_storage_server


@pytest.fixture
def bucket(object_storage: ObjectStorage) -> str:
    """An empty bucket of the test's own."""
    name = f"bucket-{os.getpid()}-{next(_numbers)}"
    urllib.request.urlopen(urllib.request.Request(f"{object_storage.url}/{name}", method="PUT")).close()
    object_storage.forget()
    return name


@pytest.fixture
def url(bucket: str) -> str:
    """Where a store of the test's own is."""
    return f"s3://{bucket}/team/evals"


@pytest.fixture
def on_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Go on as another machine, of this name."""
    return lambda name: monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / name))


def kill(pid: int) -> None:
    """As ``kill -9`` does."""
    os.kill(pid, signal.SIGKILL)
