"""The export by OTLP over HTTP, with OpenTelemetry's SDK. The only file that imports it."""

from __future__ import annotations

import atexit
import logging
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from time import monotonic
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context, attach, detach
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricExportResult, MetricsData, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from eval_skills.core.telemetry.conventions import METRICS
from eval_skills.core.telemetry.spans import CAPTURE, Attributes, Span
from eval_skills.core.text import one_line

FLUSH_S = 3.0
"""So long the end of a run waits for what is still to be sent, and so long a process at its end."""

PAUSE_S = 30.0
"""After a failure nothing is sent for so long: a receiver that is gone would keep the end of every run waiting."""

_LOGGERS = ("opentelemetry.exporter.otlp", "opentelemetry.sdk")
_KINDS = {"internal": SpanKind.INTERNAL, "client": SpanKind.CLIENT}
_PROPAGATOR = TraceContextTextMapPropagator()
_NAME = "eval-skills"


class _Watch(logging.Handler):
    """What becomes of the sending: the last thing that the exporters said, and when sending is tried again."""

    def __init__(self, address: str) -> None:
        super().__init__(logging.WARNING)
        self._address, self._said, self._again = address, "", 0.0
        self.failed = False

    def emit(self, record: logging.LogRecord) -> None:
        self._said = self._said or one_line(record.getMessage(), 200)  # the first says why, the later ones that it gives up

    @property
    def is_pausing(self) -> bool:
        return monotonic() < self._again

    def note(self, *, ok: bool) -> None:
        if not ok:
            self.failed, self._again = True, monotonic() + PAUSE_S

    @property
    def warning(self) -> str:
        why = f" ({self._said})" if self._said else ""
        where = f" to {self._address}" if self._address else ""
        return f"traces or metrics could not be sent{where}{why}; the results are not affected, and what was not sent is lost"


class _SpanExporter(OTLPSpanExporter):
    def __init__(self, watch: _Watch) -> None:
        super().__init__()
        self._watch = watch

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if self._watch.is_pausing:
            return SpanExportResult.FAILURE
        result = super().export(spans)
        self._watch.note(ok=result is SpanExportResult.SUCCESS)
        return result


class _MetricExporter(OTLPMetricExporter):
    def __init__(self, watch: _Watch) -> None:
        super().__init__()
        self._watch = watch

    def export(self, metrics_data: MetricsData, timeout_millis: float | None = 10_000, **kwargs: Any) -> MetricExportResult:
        if self._watch.is_pausing:
            return MetricExportResult.FAILURE
        result = super().export(metrics_data, timeout_millis, **kwargs)
        self._watch.note(ok=result is MetricExportResult.SUCCESS)
        return result


class _Flusher(threading.Thread):
    """Sends what there is when it is asked to: a thread that is there already, for at the end of a process none can begin."""

    def __init__(self, providers: Sequence[Any]) -> None:
        super().__init__(name="eval-skills-telemetry", daemon=True)
        self._providers, self._asked, self._done = providers, threading.Event(), threading.Condition()
        self._wanted = self._flushed = 0

    def run(self) -> None:
        while True:
            self._asked.wait()
            self._asked.clear()
            wanted = self._wanted
            for provider in self._providers:
                provider.force_flush()
            with self._done:
                self._flushed = wanted
                self._done.notify_all()

    def flush(self, timeout_s: float) -> bool:
        """Whether all that there was is sent, or was tried to be sent, within so many seconds."""
        with self._done:
            self._wanted += 1
            wanted = self._wanted
            self._asked.set()
            return self._done.wait_for(lambda: self._flushed >= wanted, timeout_s)


class OtlpSpan:
    """A span of the SDK."""

    def __init__(self, span: trace.Span) -> None:
        self.span = span

    def set(self, attributes: Attributes) -> None:
        """Add attributes."""
        self.span.set_attributes(_known(attributes))

    def event(self, name: str, attributes: Attributes) -> None:
        """Something that happened now."""
        self.span.add_event(name, _known(attributes))

    def fail(self, kind: str, message: str | None = None) -> None:
        """It ended in an error of this kind."""
        self.span.set_attribute("error.type", kind)
        self.span.set_status(Status(StatusCode.ERROR, message))

    def end(self) -> None:
        """It is over."""
        if self.span.is_recording():
            self.span.end()

    @contextmanager
    def current(self) -> Iterator[None]:
        """Inside, new spans are its children."""
        with _attached(trace.set_span_in_context(self.span)):
            yield


class Otlp:
    """Spans and metrics by OTLP, as OpenTelemetry's variables say; spans by the provider of this process, if it has set one."""

    def __init__(self, environ: Mapping[str, str], *, traces: bool, metrics: bool) -> None:
        self.captures = environ.get(CAPTURE, "").strip().lower() == "true"
        self._watch = _Watch(_address(environ))
        self._said = False
        resource = Resource.create({"service.name": environ.get("OTEL_SERVICE_NAME") or _NAME, "service.version": version(_NAME)})
        self._own_traces: list[TracerProvider] = []
        self._traces = self._tracer_provider(resource) if traces else None
        self._metrics = self._meter_provider(resource) if metrics else None
        self._tracer = (self._traces or trace.NoOpTracerProvider()).get_tracer(_NAME, version(_NAME))
        self._instruments = _instruments(self._metrics) if self._metrics is not None else {}
        self._flusher = _Flusher([each for each in (self._traces, self._metrics) if each is not None])
        self._flusher.start()
        for name in _LOGGERS:
            logging.getLogger(name).addHandler(self._watch)
            logging.getLogger(name).propagate = False
        self._parent = self._context_of({key: environ.get(key.upper(), "") for key in ("traceparent", "tracestate")})
        atexit.register(self.flush)

    def start(self, name: str, attributes: Attributes, *, kind: str = "internal", parent: Span | None = None) -> Span:
        """Begin a span; without a current one its parent is what ``TRACEPARENT`` names."""
        context = trace.set_span_in_context(parent.span) if isinstance(parent, OtlpSpan) else None
        if context is None and not trace.get_current_span().get_span_context().is_valid:
            context = self._parent
        return OtlpSpan(self._tracer.start_span(name, context, _KINDS[kind], _known(attributes)))

    def measure(self, name: str, value: float, attributes: Attributes) -> None:
        """Count, or note in the histogram."""
        if (instrument := self._instruments.get(name)) is not None:
            instrument(value, _known(attributes))

    def carrier(self) -> dict[str, str]:
        """``traceparent``, and ``tracestate`` where there is one."""
        headers: dict[str, str] = {}
        _PROPAGATOR.inject(headers)
        return headers

    @contextmanager
    def within(self, carrier: Mapping[str, str]) -> Iterator[None]:
        """Inside, the current span is the one that another process told of."""
        with _attached(self._context_of(carrier)):
            yield

    def flush(self) -> None:
        """Send what there is, for some seconds at most."""
        if not self._watch.is_pausing and not self._flusher.flush(FLUSH_S):
            self._watch.note(ok=False)

    def close(self) -> None:
        """Stop for good: what was not flushed is dropped."""
        atexit.unregister(self.flush)
        self._watch.note(ok=False)
        for provider in (self._metrics, *self._own_traces):
            if provider is not None:
                provider.shutdown()
        for name in _LOGGERS:
            logging.getLogger(name).removeHandler(self._watch)

    def take_warnings(self) -> list[str]:
        """That something could not be sent, once."""
        if self._said or not self._watch.failed:
            return []
        self._said = True
        return [self._watch.warning]

    def _tracer_provider(self, resource: Resource) -> TracerProvider:
        own = trace.get_tracer_provider()
        if isinstance(own, TracerProvider):  # as under opentelemetry-instrument: one export is enough
            return own
        provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        provider.add_span_processor(BatchSpanProcessor(_SpanExporter(self._watch)))
        self._own_traces.append(provider)
        return provider

    def _meter_provider(self, resource: Resource) -> MeterProvider:
        reader = PeriodicExportingMetricReader(_MetricExporter(self._watch))
        return MeterProvider([reader], resource=resource, shutdown_on_exit=False)

    @staticmethod
    def _context_of(carrier: Mapping[str, str]) -> Context:
        return _PROPAGATOR.extract(dict(carrier), context=Context())


def _instruments(provider: MeterProvider) -> dict[str, Any]:
    meter = provider.get_meter(_NAME, version(_NAME))
    found: dict[str, Any] = {}
    for name, metric in METRICS.items():
        if metric.kind == "counter":
            found[name] = meter.create_counter(name, metric.unit, metric.description).add
        else:
            buckets = list(metric.buckets)
            found[name] = meter.create_histogram(
                name, metric.unit, metric.description, explicit_bucket_boundaries_advisory=buckets
            ).record
    return found


@contextmanager
def _attached(context: Context) -> Iterator[None]:
    token = attach(context)
    try:
        yield
    finally:
        detach(token)


def _known(attributes: Attributes) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if value is not None}


def _address(environ: Mapping[str, str]) -> str:
    """Where it goes, without a name and password."""
    names = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")
    found = next((environ[name] for name in names if environ.get(name)), "")
    return re.sub(r"//[^/@]*@", "//", one_line(found, 200)).partition("?")[0]
