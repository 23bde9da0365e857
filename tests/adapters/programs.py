"""Programs that answer as skills do, and one question to one of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from eval_skills.adapters.process.adapter import SubprocessAdapter
from eval_skills.core.errors import ItemError
from eval_skills.core.models import Skill, SkillResponse

Seen = TypeVar("Seen")

PATIENCE_S = 60.0
"""A limit that only ends a hang: on a busy machine the start of an interpreter takes seconds."""

ONE_SHOT = """
import json, os, sys, time
def reply(result, id=None, **extra):
    return json.dumps({"jsonrpc": "2.0", "id": request["id"] if id is None else id, "result": result, **extra})
request = json.loads(sys.stdin.read())
params = request["params"]
"""
"""How a program begins that reads its input to the end; `reply` is the line it should print."""

ECHO = ONE_SHOT + "print(reply(params))"

WARM = """
import json, os, sys, time
for number, line in enumerate(sys.stdin, 1):
    request = json.loads(line)
    params = request["params"]
    if params == "die":
        sys.exit(9)
    if params == "hang":
        time.sleep(600)
    if params == "unterminated":
        sys.stdout.write("progress 50 %")
    if params == "twice":
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": "first"}))
    if params == "fail":
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": {"code": 7, "message": "no"}}), flush=True)
        continue
    result = {"pid": os.getpid(), "number": number, "params": params}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}) + chr(10))
    if params == "unterminated":
        sys.stdout.write("progress")
    sys.stdout.flush()
"""
"""A program that answers line after line, unless it is told to do otherwise."""


async def ask(skill: Skill, params: Any = None, timeout_s: float = PATIENCE_S) -> SkillResponse:
    """The response to one call of a skill that is opened for it."""
    async with SubprocessAdapter(skill) as adapter:
        return await adapter.call(params, timeout_s)


async def failure(skill: Skill, params: Any = None, timeout_s: float = PATIENCE_S) -> ItemError:
    """The error of one call that fails."""
    with pytest.raises(ItemError) as caught:
        await ask(skill, params, timeout_s)
    return caught.value


async def in_time(attempt: Callable[[float], Awaitable[Seen]], shows: Callable[[Seen], bool]) -> Seen:
    """What an attempt with a limit in seconds gave, with more and more of them until it shows what was waited for.

    For what can only be seen at a limit that is struck, and not before an interpreter has started.
    """
    for limit_s in (0.5, 2.0, 8.0, PATIENCE_S):
        seen = await attempt(limit_s)
        if shows(seen):
            break
    return seen
