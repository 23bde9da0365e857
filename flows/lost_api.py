"""Prefect's API that is gone in the middle of a flow: how that is seen, and how the flow goes on without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from json import JSONDecodeError
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, TypeVar

from eval_skills.core.errors import UserError, causes_of
from eval_skills.engine.handover import Observed

if TYPE_CHECKING:
    import httpx
    from prefect.exceptions import TerminationSignal

T = TypeVar("T")


class Recording:
    """Whether Prefect still records a flow whose steps can do without: after the first loss of its API none is asked to.

    `lost` is why the API is gone, None while it is there.
    """

    def __init__(self) -> None:
        self.lost: str | None = None

    def step(self, recorded: Callable[[], T], unrecorded: Callable[[], T]) -> T:
        """The result of a step: of `recorded`, a task or flow run, or of `unrecorded`, the same work without Prefect.

        Where the API is lost during `recorded`, its work may have been done: `unrecorded` must not do it twice.
        """
        if self.lost is None:
            try:
                return recorded()
            except Exception as error:
                if interruption_of(error) is not None or (reason := loss_of(error)) is None:
                    raise
                self.lost = reason
        return unrecorded()


@dataclass(slots=True)
class Result:
    """What a flow returns, for a caller in the same process: there also where Prefect could not record the flow's end."""

    summary: Any = None

    def keep(self, summary: T) -> T:
        """The same; it is the result."""
        self.summary = summary
        return summary


flow_result = Observed("flow_result", Result())


def loss_of(error: BaseException) -> str | None:
    """Why Prefect's API is gone, if that is why `error` was raised; what skills and judges do never is, nor what a user is told
    to do otherwise, such as to correct the address of a judge."""
    import httpx
    from prefect.exceptions import ObjectNotFound, PrefectHTTPStatusError
    from pydantic import ValidationError

    if isinstance(error, UserError):
        return None
    for each in causes_of(error):
        if isinstance(each, ObjectNotFound):  # its database was replaced, or somebody deleted the flow run
            return "it does not know the flow run any more"
        if isinstance(each, httpx.TimeoutException):
            return "it does not answer in time"
        if isinstance(each, httpx.RequestError):
            return "connection refused" if "refused" in str(each) else str(each) or type(each).__name__
        if isinstance(each, AssertionError) and _is_of_client(each):
            return "it does not answer any more"
        if isinstance(each, JSONDecodeError | ValidationError) and _is_of_client(each):
            return "its answer cannot be read"  # it is cut short, or a page of something between
        if isinstance(each, httpx.HTTPStatusError) and each.response.is_server_error:
            return f"HTTP {each.response.status_code}"
        if isinstance(each, httpx.HTTPStatusError) and each.response.status_code == 409 and _is_of_task_runs(each):
            return "it does not know the flow run any more"
        if isinstance(each, PrefectHTTPStatusError) and each.response.status_code not in REFUSALS:
            return f"HTTP {each.response.status_code}"  # of something between, or access that ended
    return None


REFUSALS = frozenset({400, 409, 422})
"""How Prefect's API refuses what it should not have been asked: it is there."""


def _is_of_client(error: BaseException) -> bool:
    """Whether Prefect's client raised `error`, itself or where it read an answer, and not what it was called by.

    It asserts that a request it no longer tries again has an answer or an error. One that waited for its next attempt when
    retries were ended (`max_retries` of 0) has neither.
    """
    modules = [str(frame.f_globals.get("__name__")) for frame, _ in walk_tb(error.__traceback__)]
    inner = [name for name in modules if name.startswith(("prefect.", "eval_skills."))]
    return bool(inner) and inner[-1].startswith("prefect.client.")


def _is_of_task_runs(error: httpx.HTTPStatusError) -> bool:
    """A flow run that is to be part of another one has a task run there first, which conflicts where that one is not known."""
    return error.request.url.path.rstrip("/").endswith("/task_runs")


def interruption_of(error: BaseException) -> KeyboardInterrupt | TerminationSignal | None:
    """The interruption that Prefect was reporting when `error` was raised, if so: without an API it cannot report it.

    While a flow runs, a SIGTERM is a signal of Prefect's own.
    """
    from prefect.exceptions import TerminationSignal

    return next((each for each in causes_of(error) if isinstance(each, KeyboardInterrupt | TerminationSignal)), None)
