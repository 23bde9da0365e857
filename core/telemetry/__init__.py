"""Traces and metrics for OpenTelemetry: off, and nothing of it imported, unless the environment asks for them."""
