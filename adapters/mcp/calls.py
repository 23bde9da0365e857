"""One call of a tool, and what became of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mcp import MCPError
from pydantic import ValidationError

from eval_skills.adapters.answer.envelope import parse_json, read_answer
from eval_skills.adapters.call import Call
from eval_skills.adapters.mcp.results import (
    CLOSED,
    OutputChoice,
    content_of,
    error_text,
    exception_in,
    first_problem,
    is_closed,
    partial_response_of,
    reply_error,
)
from eval_skills.adapters.mcp.scripted import KEYS, Asked
from eval_skills.adapters.mcp.session import McpSession
from eval_skills.adapters.mcp.transport import SessionExpired, message_limit
from eval_skills.adapters.process.streams import OutputTail
from eval_skills.core.errors import ContractError, ItemError, SkillCrashed, SkillError, SkillUnavailable
from eval_skills.core.text import one_line

if TYPE_CHECKING:
    from mcp_types import CallToolResult

    from eval_skills.core.models import SkillResponse


_TOO_MUCH = {"toolCalls": [None]}
"""Stands for reports beyond the limit, which a server may send without end: what was called is unknown then."""

LATE_LOG_S = 0.1
"""How long what a program logged before its answer may take to arrive."""


class CallInterrupted(SkillUnavailable):
    """The connection was lost, but this call did not cause it and may be repeated."""


class ServerLost(SkillUnavailable):
    """The connection to a server behind a URL was lost during the call."""


class ServerEnded(SkillCrashed):
    """The server, a program of the skill's own, ended during the call."""


async def ask(session: McpSession, tool: str, arguments: dict[str, Any], call: Call, choice: OutputChoice) -> SkillResponse:
    """The tool's answer, of which `choice` says what the output is.

    The clock of `call` runs for as long as the server has the question.

    What the server said meanwhile is in `call.logs`: the progress of this very call, and what no protocol assigns to a call
    (log messages, standard error), which goes to the call that ends first. A progress whose message is a JSON object with
    `toolCalls` or `messages` reports what the tool does, and is noted in `call.progress`, up to as much as a message may have.

    Raises:
        SkillError: the answer is an error, or the server replied with one.
        ContractError: the answer is too long, unreadable, or not what the tool's output schema says.
        CallInterrupted, ServerLost: the connection was lost.
        ServerEnded: the server's program ended.
        SkillUnavailable, InfraError: HTTP says so.
    """
    with session.client.asked() as asked:
        return await _ask(session, tool, arguments, call, choice, asked)


async def _ask(
    session: McpSession, tool: str, arguments: dict[str, Any], call: Call, choice: OutputChoice, asked: Asked
) -> SkillResponse:
    client = await session.ready()
    progress_log, mark = OutputTail(), session.server_requests.count

    room = message_limit(choice.max_bytes)

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        nonlocal room
        if room >= 0 and (report := _report_in(message, call.key_twice)) is not None:
            room -= len(message or "")
            call.progress.add(report if room >= 0 else _TOO_MUCH)
            return
        share = f"{progress:g}" if total is None else f"{progress:g}/{total:g}"
        progress_log.add(f"progress {share}{f': {message}' if message else ''}\n".encode(errors="replace"))

    call.start()
    call.sends()
    try:
        result = await client.call_tool(tool, arguments, progress_callback=on_progress)
        call.stop()
        return await _answer(session, tool, result, choice, mark, asked, call)
    except MCPError as error:
        call.stop()
        raise await _explained(session, error, choice.max_bytes, mark) from None
    except ValidationError as error:
        raise ContractError(f"the answer does not follow protocol {client.protocol_version}: {first_problem(error)}") from None
    except (RuntimeError, *CLOSED) as error:
        if session.lost:
            raise await _interrupted(session) from None
        raise ContractError(one_line(str(error), 600)) from None
    finally:
        call.stop()
        call.seen = session.transport.seen()
        call.logs = "\n".join(text for text in (progress_log.text().rstrip("\n"), session.transport.take_logs()) if text)


def _report_in(message: str | None, twice: Callable[[str], None]) -> dict[str, Any] | None:
    if message is None or not message.lstrip().startswith("{"):
        return None
    try:
        report = parse_json(message.encode(errors="replace"), twice)
    except ValueError:
        return None
    return report if isinstance(report, dict) and report.keys() & {"toolCalls", "messages"} else None


async def _answer(
    session: McpSession, tool: str, result: CallToolResult, choice: OutputChoice, mark: int, asked: Asked, call: Call
) -> SkillResponse:
    if not result.is_error:
        content = content_of(result)
        output = choice.output(content, call.key_twice)  # before the schema: it may be too long to be looked into
        await session.schemas.check(tool, result)
        return read_answer(output).model_copy(update={"content": [*content, *asked]})
    said = error_text(result)
    masked = said == f"Error executing tool {tool}"  # which is how a server hides what its tool raised
    cause = await _logged_cause(session, call.began) if masked else ""
    message = "; ".join(filter(None, (said, cause, _refused(session, mark))))
    raise SkillError(message, known=partial_response_of(result, choice.max_bytes, asked, call.key_twice))


async def _logged_cause(session: McpSession, began: float) -> str:
    """The exception that a program logged in place of saying it, since `began`; a call that ended meanwhile may have taken it.

    Standard error and the answer come on pipes of their own, so what was written first may arrive a little later.
    """
    end = time.perf_counter() + (LATE_LOG_S if session.is_program else 0)
    while not (found := exception_in(session.transport.stderr())):
        exception, taken_at = session.transport.taken
        if taken_at >= began or time.perf_counter() >= end:
            return exception if taken_at >= began else ""
        await asyncio.sleep(LATE_LOG_S / 10)
    return found


async def _explained(session: McpSession, error: MCPError, max_bytes: int, mark: int) -> ItemError:
    failure = session.transport.failure(error.data)
    if isinstance(failure, SessionExpired):
        return CallInterrupted(str(failure))
    if failure is not None:
        return type(failure)(str(failure), retry_after_s=failure.retry_after_s)
    if is_closed(error):
        return await _interrupted(session)
    problem = reply_error(error, max_bytes)
    refused = _refused(session, mark)
    return type(problem)(f"{problem}; {refused}", known=problem.known) if refused else problem


async def _interrupted(session: McpSession) -> ItemError:
    if session.retired:
        return CallInterrupted("the session was replaced under the call")
    if (broken := session.transport.broken) is not None:
        return type(broken)(str(broken), retry_after_s=broken.retry_after_s)
    lost = CallInterrupted if session.transport.left_call else ServerEnded if session.is_program else ServerLost
    return lost(await session.transport.describe_end("before it answered"))


def _refused(session: McpSession, mark: int) -> str:
    asked = session.server_requests.since(mark)
    if not asked:
        return ""
    scripts = " and ".join(f"client.{KEYS[method]}" for method in asked if method in KEYS)
    remedy = f"script them in adapterConfig.{scripts}" if scripts else "an evaluation does not support them"
    return f"the server sent requests for {', '.join(asked)}, which were refused; {remedy}"
