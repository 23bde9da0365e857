"""A real receiver of OTLP over HTTP on loopback, and what it was sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import pytest

from eval_skills.core.telemetry import spans as telemetry_spans


@dataclass(frozen=True)
class Received:
    """A span as it came."""

    name: str
    trace: str
    id: str
    parent: str
    attributes: dict[str, Any]
    events: list[tuple[str, dict[str, Any]]]
    error: bool
    message: str

    @property
    def traceparent(self) -> str:
        """The header that names it, without its flags."""
        return f"00-{self.trace}-{self.id}"


@dataclass
class Receiver:
    """What came in; also the headers of requests to any other path, which are a skill's, and are answered with ``"ok"``."""

    bodies: list[bytes] = field(default_factory=list)
    spans: list[Received] = field(default_factory=list)
    points: dict[str, list[Any]] = field(default_factory=dict)
    called: list[dict[str, str]] = field(default_factory=list)
    statuses: dict[str, list[int]] = field(default_factory=dict)
    """By task, what the next calls of the skill are answered with; 200 after that."""

    def named(self, start: str) -> list[Received]:
        """The spans whose names begin so."""
        return [span for span in self.spans if span.name.startswith(start)]

    def children(self, parent: Received) -> list[Received]:
        return [span for span in self.spans if span.parent == parent.id]

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def _take(self, path: str, body: bytes) -> None:
        # here, as every session of tests loads this file
        from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        self.bodies.append(body)
        if path == "/v1/traces":
            for each in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.spans += [_span(span) for scope in each.scope_spans for span in scope.spans]
        else:
            for group in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                for metric in (metric for scope in group.scope_metrics for metric in scope.metrics):
                    self.points[metric.name] = list((metric.sum or metric.histogram).data_points or metric.histogram.data_points)

    def _handler(receiver) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - `self` is the handler's
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body, answer, status = self.rfile.read(int(self.headers.get("Content-Length", 0))), b"", 200
                if self.path.startswith("/v1/"):
                    receiver._take(self.path, body)
                else:
                    receiver.called.append({name.lower(): value for name, value in self.headers.items()})
                    left = receiver.statuses.get(json.loads(body)["input"]["what"])
                    answer, status = b'{"output": "ok"}', left.pop(0) if left else 200
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                """Nothing on the tests' output."""

        return Handler


def _span(span: Any) -> Received:
    events = [(event.name, _values(event.attributes)) for event in span.events]
    ids = (span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex())
    return Received(span.name, *ids, _values(span.attributes), events, span.status.code == 2, span.status.message)


def _values(attributes: Any) -> dict[str, Any]:
    return {each.key: _value(each.value) for each in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_value(each) for each in value.array_value.values] if kind == "array_value" else getattr(value, kind)


def values_of(attributes: Any) -> dict[str, Any]:
    """The attributes of a data point."""
    return _values(attributes)


@pytest.fixture
def otlp(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Begins the export of this process anew: call it with an address, and it is on."""
    made: list[Any] = []

    def begin(address: str) -> None:
        monkeypatch.setattr(telemetry_spans, "_running", None)
        monkeypatch.setattr(telemetry_spans, "_refused", {})
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        made.append(telemetry_spans.telemetry())

    yield begin
    for each in made:
        if each is not None:
            each.close()
