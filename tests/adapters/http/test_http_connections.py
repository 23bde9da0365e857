"""One client serves all items of a skill, and what one of them was sent is nothing to the next."""

from __future__ import annotations

import pytest

from eval_skills.adapters.http.adapter import HttpAdapter
from eval_skills.core.errors import SkillUnavailable
from tests.adapters.wire import Wire, skill


async def test_a_cookie_of_one_call_does_not_reach_the_next(wire: Wire) -> None:
    wire.head = "HTTP/1.1 200 OK\r\nSet-Cookie: session=1; Path=/"
    async with HttpAdapter(skill(wire.url)) as adapter:
        for _ in range(2):
            await adapter.call({}, 60)
    assert "cookie" not in wire.headers()


async def test_what_a_service_sent_beyond_its_answer_answers_no_later_call(wire: Wire) -> None:
    wire.keep_open, wire.tail = True, b'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"wrong"'
    async with HttpAdapter(skill(wire.url)) as adapter:
        assert (await adapter.call({}, 60)).output == {"ok": True}
        with pytest.raises(SkillUnavailable, match="had sent more than its answer to the call before"):
            await adapter.call({}, 60)
        assert (await adapter.call({}, 60)).output == {"ok": True}
