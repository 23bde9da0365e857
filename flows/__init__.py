"""The Prefect flows, callable and deployable; each is loaded on first use, since Prefect takes a while to import."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eval_skills.flows.evaluate import evaluate
    from eval_skills.flows.pipeline import pipeline

__all__ = ["evaluate", "pipeline"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # The module and its flow share a name: keep the flow, or the module would hide it after its import.
    flow = getattr(import_module(f"{__name__}.{name}"), name)
    globals()[name] = flow
    return flow
