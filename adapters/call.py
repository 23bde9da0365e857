"""One call in progress: its clock, its deadline, its logs, and cleanup that a cancellation must not cut short."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from eval_skills.adapters.answer.envelope import partial_response
from eval_skills.core.messages.lost_calls import lost_calls
from eval_skills.core.messages.roles import inner_message, whole_messages
from eval_skills.core.messages.tool_calls import raw_calls, tool_call
from eval_skills.core.models import SkillResponse, ToolCall, Usage
from eval_skills.core.text import normalise_tool_name

if TYPE_CHECKING:
    from eval_skills.adapters.conversation import Conversation


PROGRESS = "progress"
"""The method of the JSON-RPC notification that carries a report; its params have parts of an envelope, as an error's data do."""

CALLED_NOTHING = SkillResponse(tool_calls=[])
"""What is known of a run whose request never left us."""


class Progress:
    """Everything that was reported of one run so far, by any number of reports, from any thread.

    Calls and messages are appended, tokens and costs added up. `known` is None until there is a report: what was called is
    unknown then. A report of no calls (``{"toolCalls": []}``) says that calls will be reported when they are made.
    """

    def __init__(self) -> None:
        self._parts: list[SkillResponse] = []
        self._sources: list[Callable[[], SkillResponse | None]] = []

    def follow(self, source: Callable[[], SkillResponse | None]) -> None:
        """Count what `source` returns, whenever it is asked, as one more report: an answer that is coming in piece by piece."""
        self._sources.append(source)

    def add(self, report: Any) -> None:
        """Take a report. A call in it that cannot be read is one without a name: what was called is unknown then."""
        part = partial_response(report)
        listed = report.get("toolCalls") if isinstance(report, dict) else None
        read = len(part.tool_calls or ()) if part is not None else 0
        unread = max(0, len(listed) - read) if isinstance(listed, list) else int(listed is not None)
        if unread:
            part = part or SkillResponse()
            part = part.model_copy(update={"tool_calls": [*(part.tool_calls or ()), *[ToolCall(name="")] * unread]})
        if part is not None:
            self._parts.append(part)

    @property
    def known(self) -> SkillResponse | None:
        """All reports as one."""
        parts = [*self._parts, *(part for source in self._sources if (part := source()) is not None)]
        if not parts:
            return None
        costs = [part.cost_usd for part in parts if part.cost_usd is not None]
        return SkillResponse(
            tool_calls=_joined([part.tool_calls for part in parts]),
            messages=_joined([part.messages for part in parts]),
            usage=_sum([part.usage for part in parts if part.usage is not None]),
            cost_usd=sum(costs) if costs else None,
            files=next((part.files for part in reversed(parts) if part.files is not None), None),
            skills_loaded=_joined([part.skills_loaded for part in parts]),
            steps=next((part.steps for part in reversed(parts) if part.steps is not None), None),
        )


def with_progress(said: SkillResponse, reported: SkillResponse | None) -> SkillResponse:
    """What an answer or an error says of its run, completed by what was `reported` before.

    What it says itself counts. A tool that was reported, also in messages where it has others, and that it does not name is
    appended to its `tool_calls`: what was called does not become undone by an answer that is silent about it.
    """
    if reported is None:
        return said
    calls = said.tool_calls
    if reported.tool_calls is not None:
        calls = [*(calls or ()), *_not_named(reported.tool_calls, calls or ())]
    if said.messages is not None and (in_messages := _called_in(reported.messages or (), calls or ())):
        further = _not_named(in_messages, [*(calls or ()), *_called_in(said.messages)])
        calls = [*(calls or ()), *further] if further else calls
    update: dict[str, Any] = {"tool_calls": calls}
    for part in ("messages", "usage", "cost_usd", "files", "skills_loaded", "steps"):
        if getattr(said, part) is None:
            update[part] = getattr(reported, part)
    return said.model_copy(update=update)


def _not_named(calls: Sequence[ToolCall], others: Iterable[ToolCall]) -> list[ToolCall]:
    """The calls of tools that the others do not call."""
    named = {normalise_tool_name(call.name) for call in others}
    return [call for call in calls if normalise_tool_name(call.name) not in named]


def _called_in(messages: Sequence[dict[str, Any]], listed: Sequence[ToolCall] = ()) -> list[ToolCall]:
    """What messages say was called, by calls and by results of others than are `listed`; one that cannot be read has no name."""
    whole = whole_messages(messages)
    made = [tool_call(raw) for message in whole for raw in raw_calls(inner_message(message))]
    return [call or ToolCall(name="") for call in [*made, *(each.call for each in lost_calls(whole, listed))]]


def with_whole_messages(said: SkillResponse) -> SkillResponse:
    """The same answer, with LangChain's chunks of messages that were streamed joined as these messages."""
    whole = None if said.messages is None else whole_messages(said.messages)
    return said if whole == said.messages else said.model_copy(update={"messages": whole})


def _joined(lists: list[list[Any] | None]) -> list[Any] | None:
    given = [each for each in lists if each is not None]
    return [part for each in given for part in each] if given else None


def _sum(usages: list[Usage]) -> Usage | None:
    def total(counts: list[int | None]) -> int | None:
        known = [count for count in counts if count is not None]
        return sum(known) if known else None

    if not usages:
        return None
    return Usage(
        prompt_tokens=total([usage.prompt_tokens for usage in usages]),
        completion_tokens=total([usage.completion_tokens for usage in usages]),
    )


MAX_KEYS = 10
"""How many keys that are given twice are named."""


class Call:
    """Its clock, its deadline, and the logs of the skill.

    The clock runs from `start` (until then: from the call's beginning) to the first `stop` after it, which also disarms the
    deadline: an answer that is there is never lost to the tidying up behind it.
    `suspend` lets the deadline rest until then: a start with a limit of its own takes nothing from the call's time.
    `seen` is a phrase about what came instead of an answer, for the message of a timeout. `first_token` notes when the first
    piece of an answer came, if it comes in pieces. `asked` is whether the request may have left us: false from
    `not_yet_asked` to `sends`. `progress` is what the skill reported of its run meanwhile. `conversation` is the one of which it
    is a turn. `duplicate_keys` are the keys that an object of the answer gives twice, each once.
    """

    def __init__(self, timeout_s: float, conversation: Conversation | None = None) -> None:
        self.timeout_s, self.conversation = timeout_s, conversation
        self.logs, self.seen = "", ""
        self.asked, self._sent, self.progress = True, False, Progress()
        self._started, self._stopped = time.perf_counter(), 0.0
        self._first: float | None = None
        self._deadline: asyncio.Timeout | None = None
        self.duplicate_keys: list[str] = []
        self._suspended = False

    def limit(self) -> asyncio.Timeout:
        """The deadline, to be entered once, around all the work."""
        self._deadline = asyncio.timeout(self.timeout_s)
        return self._deadline

    def restart(self) -> None:
        """Begin anew: what was waited for so far is not the skill's, and it may be asked from here on."""
        self.asked = True
        self._started = time.perf_counter()

    def not_yet_asked(self) -> None:
        """What follows, up to `sends`, only prepares the request; one that was sent before stays sent."""
        self.asked = self._sent

    def sends(self) -> None:
        """From here on the skill may have the request."""
        self.asked = self._sent = True

    def suspend(self) -> None:
        """Let the deadline rest until the next `start`, from which on the whole time is allowed; nothing is asked until then.

        A clock that was stopped runs again: what follows is another question of the same call.
        """
        self.not_yet_asked()
        self._suspended, self._stopped = True, 0.0
        self._set_deadline(None)

    def start(self, not_before: float | None = None) -> None:
        """Start the clock anew: what came before (a worker's start) is not part of the latency.

        With `not_before`, a `time.perf_counter()` that has passed, a clock that runs is only moved forward to it.
        """
        if self._suspended:
            self._suspended = False
            self._set_deadline(asyncio.get_running_loop().time() + self.timeout_s)
        self._started = time.perf_counter() if not_before is None else max(self._started, not_before)

    def begin(self) -> None:
        """The skill has the request from here on: the clock starts anew, and so does the deadline."""
        self.suspend()
        self.start()
        self.sends()

    def ended_in_time(self, at: float | None) -> bool:
        """Whether what the deadline cut off had ended within it, `at` a `time.perf_counter()`: a loop that is kept notices late.
        False, too, where somebody else cancelled the call.
        """
        task = asyncio.current_task()
        by_deadline = self._deadline is not None and self._deadline.expired() and task is not None and task.cancelling() == 1
        return by_deadline and at is not None and at - self._started <= self.timeout_s

    def stop(self, at: float | None = None) -> None:
        """Stop the clock, now or at an earlier `time.perf_counter()`; only the first stop counts."""
        if not self._stopped:
            self._stopped = time.perf_counter() if at is None else at
            self._set_deadline(None)

    def first_token(self) -> None:
        """Note that a piece of the answer is there; only the first one counts."""
        if self._first is None:
            self._first = time.perf_counter()

    def keys_twice(self, keys: Iterable[str]) -> None:
        """Note that objects of the answer give these keys twice; only the first `MAX_KEYS` of all are kept."""
        self.duplicate_keys = list(dict.fromkeys([*self.duplicate_keys, *keys]))[:MAX_KEYS]

    def key_twice(self, key: str) -> None:
        """`keys_twice` of one."""
        self.keys_twice([key])

    @property
    def conversation_data(self) -> dict[str, Any] | None:
        """What the skill is told of the conversation; None outside of one."""
        return None if self.conversation is None else self.conversation.data

    @property
    def time_to_first_token_ms(self) -> float | None:
        """Milliseconds from the start to the first piece of the answer; None where none was noted."""
        return None if self._first is None else round((self._first - self._started) * 1000, 3)

    def _set_deadline(self, at: float | None) -> None:
        if self._deadline is not None and not self._deadline.expired():
            self._deadline.reschedule(at)

    @property
    def began(self) -> float:
        """When the clock started, as a `time.perf_counter()`."""
        return self._started

    @property
    def latency_ms(self) -> float:
        """Milliseconds on the clock, to the microsecond."""
        return round(((self._stopped or time.perf_counter()) - self._started) * 1000, 3)


async def shield_cleanup(work: Coroutine[Any, Any, None]) -> None:
    """Do `work` to its end even if cancelled meanwhile; the cancellation is raised after it. `work` must be bounded."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    task.result()
    if cancelled is not None:
        raise cancelled
