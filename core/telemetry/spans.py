"""Spans and metrics, where the environment asks for them; everywhere else a look at four variables.

``OTEL_EXPORTER_OTLP_ENDPOINT`` (or that of traces or of metrics), or ``OTEL_TRACES_EXPORTER=otlp``, switches it on, and
``OTEL_SDK_DISABLED=true`` off. It needs the extra `otel`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from threading import Lock
from typing import Protocol

from eval_skills.core.telemetry.conventions import Attribute
from eval_skills.core.text import one_line

VARIABLES = (
    "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    "OTEL_TRACES_EXPORTER",
)  # fmt: skip
"""Each of these switches it on."""

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
EXTRA_MODULES = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")

Attributes = Mapping[str, Attribute | None]
"""None is left out."""


class Span(Protocol):
    """A span that has begun."""

    def set(self, attributes: Attributes) -> None:
        """Add attributes."""

    def event(self, name: str, attributes: Attributes) -> None:
        """Something that happened now."""

    def fail(self, kind: str, message: str | None = None) -> None:
        """It ended in an error of this kind; `message` only where contents are captured."""

    def end(self) -> None:
        """It is over. A second call does nothing."""

    def current(self) -> AbstractContextManager[object]:
        """Inside, new spans are its children, and what is sent carries its id. It is not ended by that."""


class Telemetry(Protocol):
    """Where spans and metrics go. No method raises, and none waits for the network but `flush`."""

    captures: bool
    """Whether prompts and answers may be part of it."""

    def start(self, name: str, attributes: Attributes, *, kind: str = "internal", parent: Span | None = None) -> Span:
        """Begin a span; its parent is by default the current one. `kind`: ``internal`` or ``client``."""

    def measure(self, name: str, value: float, attributes: Attributes) -> None:
        """Count, or note in the histogram, by the metric's name in `conventions.METRICS`."""

    def carrier(self) -> dict[str, str]:
        """The headers that tell another process of the current span (W3C Trace Context); empty without one."""

    def within(self, carrier: Mapping[str, str]) -> AbstractContextManager[object]:
        """Inside, the current span is the one that another process told of."""

    def flush(self) -> None:
        """Send what there is, for some seconds at most."""

    def take_warnings(self) -> list[str]:
        """What went wrong since the last call, each as one line, and each once in the life of the process."""


_running: Telemetry | None = None
_starting = Lock()
_refused: dict[str, bool] = {}
"""By why it could not begin: whether that was said already."""


def telemetry() -> Telemetry | None:
    """Where spans and metrics go; None where they are off. The first call that finds them on begins the export."""
    return _running if _running is not None else _started(os.environ) if _is_wanted(os.environ) else None


def _is_wanted(environ: Mapping[str, str]) -> bool:
    if not any(environ.get(name) for name in VARIABLES):
        return False
    return environ.get("OTEL_SDK_DISABLED", "").strip().lower() != "true"


def _started(environ: Mapping[str, str]) -> Telemetry | None:
    global _running
    asked = [environ.get(f"OTEL_{signal}_EXPORTER", "").strip().lower() or "otlp" for signal in ("TRACES", "METRICS")]
    if set(asked) == {"none"} or (asked[0] == "none" and not _has_endpoint(environ)):
        return None
    if (problem := _problem(asked, environ)) is not None:
        _refused.setdefault(problem, False)
        return None
    from eval_skills.core.telemetry.otlp import Otlp

    with _starting:
        try:
            _running = _running or Otlp(environ, traces=asked[0] != "none", metrics=asked[1] != "none")
        except Exception as error:  # noqa: BLE001 - the SDK reads a dozen variables, and a wrong one must not end a run
            _refused.setdefault(f"no traces or metrics are sent: {type(error).__name__}: {one_line(str(error), 200)}", False)
    return _running


def _has_endpoint(environ: Mapping[str, str]) -> bool:
    return any(environ.get(name) for name in VARIABLES[:3])


def _problem(asked: list[str], environ: Mapping[str, str]) -> str | None:
    """Why nothing can be sent as the environment asks for it."""
    for signal, exporter in zip(("TRACES", "METRICS"), asked, strict=True):
        if exporter not in ("otlp", "none"):
            return f"OTEL_{signal}_EXPORTER={exporter}: no traces or metrics are sent; otlp and none are known here"
        own = environ.get(f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL") or environ.get("OTEL_EXPORTER_OTLP_PROTOCOL")
        if exporter == "otlp" and (own or "http/protobuf") != "http/protobuf":
            return f"OTEL_EXPORTER_OTLP_PROTOCOL={own}: no traces or metrics are sent; only http/protobuf is spoken here"
    if any(not _is_there(name) for name in EXTRA_MODULES):
        named = next(name for name in VARIABLES if environ.get(name))
        return f"{named} is set, and no traces or metrics are sent: install the extra, pip install 'eval-skills[otel]'"
    return None


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # nor the packages around it
        return False


def telemetry_warnings() -> list[str]:
    """Why nothing, or not all, was sent; each line once in the life of the process."""
    unsaid = [problem for problem, was_said in _refused.items() if not was_said]
    _refused.update(dict.fromkeys(unsaid, True))
    return unsaid + (_running.take_warnings() if _running is not None else [])


def trace_headers() -> dict[str, str]:
    """The headers by which another service joins the current trace; empty where traces are off, or there is no span."""
    return {} if (found := telemetry()) is None else found.carrier()


@contextmanager
def continued(carrier: Mapping[str, str]) -> Iterator[None]:
    """Inside, the trace is the one that `carrier` tells of, where traces are on."""
    if not carrier or (found := telemetry()) is None:
        yield
        return
    with found.within(carrier):
        yield
