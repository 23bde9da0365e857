"""Tools that failed for good, and answers that admit it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import regex

from eval_skills.core.message_roles import inner_message, role_in
from eval_skills.core.tool_results import results_of
from eval_skills.scorers.tool_calls import calls_of_messages

if TYPE_CHECKING:
    from eval_skills.core.models import SkillResponse

_ADMITS = regex.compile(
    r"""(?xi)\b(?:
        fail\w* | error\w* | unable | un(?:available|successful\w*|reachable|fortunately) | problems? | issues?
        | could\s?n[o']t | could\ not | can\s?not | can't | did\s?n't | did\ not | was\s?n't | was\ not | were\s?n't
        | time[sd]?[\s-]?out | denied | refused | rejected | invalid | missing | no\ (?:access|results?|response|data|answer)
        | not\ (?:able|available|possible|found|work\w*|respond\w*|reach\w*|access\w*)
    )\b"""
)


class FailedTool(NamedTuple):
    """A tool whose last call failed, and what it said."""

    name: str
    error: str


def mentions_failure(answer: str) -> bool:
    """Whether the answer says, in English, that something did not work."""
    return _ADMITS.search(answer.replace("’", "'")) is not None


def failed_tools(response: SkillResponse) -> list[FailedTool]:
    """The tools whose last call ended in an error, in the order first called; a retry that worked makes up for a failure."""
    last = dict(_outcomes(response))
    return [FailedTool(name, error) for name, error in last.items() if error]


def _outcomes(response: SkillResponse) -> Iterator[tuple[str, str]]:
    """Each finished call by its tool, with its error or nothing: from the calls, then from the results in the messages."""
    calls = [*(response.tool_calls or ()), *calls_of_messages(response.messages or [])]
    names = {call.id: call.name for call in calls if call.id}
    for call in response.tool_calls or ():
        yield call.name, call.error or ""
    for message in map(inner_message, response.messages or ()):
        for result in results_of(message, role_in(message)):
            if (name := result.name or names.get(result.call_id or "")) is not None:
                yield name, result.error
