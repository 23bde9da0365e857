"""What to tell where Prefect's API refuses what it is asked, as one of another version does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eval_skills.cli.prefect_server.checks import server_checks
from eval_skills.core.errors import RunError, causes_of
from eval_skills.core.text import excerpt
from eval_skills.flows.lost_api import REFUSALS

if TYPE_CHECKING:
    import httpx


def refusal_of(error: BaseException) -> RunError | None:
    """The refusal that `error` is or comes of, in one line; None where the API refused nothing.

    Prefect's own text has all that was sent and received, which for a deployment fills pages. Mostly the server is of another
    version, of which Prefect warns in its log alone: its client sends what an older server does not know.
    """
    from prefect.exceptions import PrefectHTTPStatusError

    for each in causes_of(error):
        if isinstance(each, PrefectHTTPStatusError) and each.response.status_code in REFUSALS:
            return RunError(f"the Prefect API refused a request ({_reason(each.response)}); {_next_step()}")
    return None


def _reason(answer: httpx.Response) -> str:
    """``HTTP 422, body.schedules.0.replaces: Extra inputs are not permitted``: the first that it names of what is wrong."""
    status = f"HTTP {answer.status_code}"
    try:
        document: Any = answer.json()
    except ValueError:
        return status
    if not isinstance(document, dict):
        return status
    found = document.get("exception_detail") or document.get("detail") or document.get("exception_message")
    first = found[0] if isinstance(found, list) and found else found
    if isinstance(first, dict):
        place = ".".join(map(str, first.get("loc") or ()))
        first = f"{place}: {first.get('msg')}"
    return status if first is None else f"{status}, {excerpt(first)}"


def _next_step() -> str:
    server = server_checks()[0]
    if server.remedy:
        return f"{server.found}: {server.remedy}"
    return "-v shows the whole of its answer, and eval-skills doctor looks at the server"
