"""The Prefect flows, callable and deployable; each is loaded on first use, since Prefect takes a while to import."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from importlib import import_module
from signal import raise_signal
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from eval_skills.core.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Callable

    from eval_skills.flows.backfill import backfill
    from eval_skills.flows.compare_answers import compare_answers
    from eval_skills.flows.evaluate import evaluate
    from eval_skills.flows.monitor import monitor
    from eval_skills.flows.nightly import nightly
    from eval_skills.flows.pipeline import pipeline
    from eval_skills.tasks.flow_runs import Caller

__all__ = ["backfill", "compare_answers", "evaluate", "monitor", "nightly", "pipeline"]


T = TypeVar("T")


def run_here(
    flow: Callable[[Any], T],
    request: Any,
    *,
    caller: Caller | None = None,
    api_url: str | None = None,
    watched: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> T:
    """Run `flow` now, in this process, for a caller who waits for it; the API at `api_url`, else the usual one, records it.

    `caller` says who waits, for the tags of the flow run, and gets its id. `watched` is entered around it, with the settings that
    hold inside.

    Where Prefect's API is gone at the end and the flow has kept its result all the same, that is returned, with the reason in
    `unrecorded`; an interruption that could not be reported to it stays one.

    Prefect's heartbeat is off: it shows automations that a flow run elsewhere is still alive, its thread sleeps in whole seconds,
    and the end of every flow (and subflow) would wait for it.

    Raises:
        RunError: the flow run was cancelled in Prefect.
    """
    from prefect.exceptions import Abort, TerminationSignal
    from prefect.settings import PREFECT_API_URL, temporary_settings

    from eval_skills.flows.lost_api import Result, flow_result, interruption_of, loss_of
    from eval_skills.tasks.flow_runs import Caller, called_by
    from eval_skills.tasks.prefect_settings import with_settings

    kept, recorded = Result(), nullcontext() if api_url is None else temporary_settings({PREFECT_API_URL: api_url})
    # copies of the others: what is changed of them once the API is silent, or the flow is interrupted, ends with it
    own = with_settings(flows={"heartbeat_frequency": None}, client={}, api={})
    with recorded, own, watched(), flow_result.by(kept), called_by.by(caller or Caller()):
        try:
            return flow(request)
        except Abort as ended:  # nothing that a caller would expect to be no `Exception`
            raise RunError(str(ended)) from None
        except Exception as error:
            if (interruption := interruption_of(error)) is not None:
                if isinstance(interruption, TerminationSignal):
                    raise_signal(interruption.signal)  # for whom it was sent to, as Prefect does where it could report it
                raise interruption from None
            if kept.summary is None or (reason := loss_of(error)) is None:
                raise
            return cast("T", replace(kept.summary, unrecorded=kept.summary.unrecorded or reason, flow_runs=(), task_runs=0))


class _Flows(ModuleType):
    """This package: a flow and its module share a name, and the name is the flow, whatever was imported before."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in __all__ and isinstance(value, ModuleType):
            return  # the import of a submodule binds it here; it would hide the flow
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Flows


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    flow = getattr(import_module(f"{__name__}.{name}"), name)
    globals()[name] = flow
    return flow
