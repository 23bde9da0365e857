"""A call waits for its turn at the skill's service, and the service's refusals set the pace of all that ask it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar

from eval_skills.adapters.call import Call
from eval_skills.core.errors import ItemLeft, SkillThrottled
from eval_skills.core.rate_limits.pace import MAX_WAIT_S
from eval_skills.core.rate_limits.services import GIVEN_UP_S, Caller, NoTurn, Turn

run_is_over: ContextVar[Callable[[], bool] | None] = ContextVar("eval_skills_run_is_over", default=None)
"""Whether the run of the current item begins no other: then an item that was not asked yet does not wait for its turn."""


@asynccontextmanager
async def in_turn(caller: Caller, call: Call) -> AsyncIterator[Turn]:
    """Wait for the turn of `call`, whose clock and deadline rest until it starts; inside, it is made.

    Raises:
        ItemLeft: the run ended before that.
        SkillThrottled: the service refused it inside, with what that means for all.
    """
    call.suspend()
    may_leave = call.conversation is None or call.conversation.turn <= 1
    try:
        turn = await caller.turn(run_is_over.get() if may_leave else None)
    except NoTurn:
        raise ItemLeft(f"the run ended while {caller.name} was waited for; nothing was asked") from None
    try:
        yield turn
    except SkillThrottled as refusal:
        refusal.throttled = turn.refused(refusal.retry_after_s)
        if refusal.throttled is None:
            refusal.args = (f"{refusal}; {_why_no_more(caller, refusal)}", *refusal.args[1:])
        raise


def _why_no_more(caller: Caller, refusal: SkillThrottled) -> str:
    if caller.has_given_up:
        return f"it has refused every request for more than {GIVEN_UP_S:g} s"
    return f"it asks to wait {refusal.retry_after_s or 0:,.0f} s, more than the {MAX_WAIT_S:g} s that are waited at most"
