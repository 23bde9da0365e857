"""What is said of an answer beside its verdict: a remark on the item, and a line on the run with how many items there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eval_skills.core.messages.roles import finish_reason_of
from eval_skills.core.models import Reason, SkillResponse
from eval_skills.core.models.result import ANSWER_CUT
from eval_skills.core.text import excerpt, plural
from eval_skills.scorers.score import remark
from eval_skills.scorers.tools.calls import in_turn

DUPLICATE_KEYS = "DUPLICATE_KEYS"
"""An object of the answer's JSON gives a key twice. That is valid for most parsers, which read different values from it (RFC
8259, section 4)."""

_SAID_OF_A_RUN = {
    DUPLICATE_KEYS: "gave a key twice in one object of its JSON in {items}, where the last value counts",
    ANSWER_CUT: "gave an answer that was cut in {items}, which was judged as it is",
}

_CUTS = frozenset(
    {"length", "max_tokens", "max_output_tokens", "max_completion_tokens", "model_length", "model_context_window_exceeded"}
    | {"incomplete", "content_filter", "content_filtered", "guardrail_intervened"}
    | {"safety", "recitation", "prohibited_content", "blocklist", "spii"}
)
"""The words with which APIs say that an answer was cut, in lower case."""


def about_duplicate_keys(keys: Sequence[str]) -> Reason:
    """A remark that names `keys`, which an object of an answer gave twice."""
    named = ", ".join(excerpt(key, 60) for key in keys)
    return remark(DUPLICATE_KEYS, f"an object in the answer's JSON gives a key twice: {named}; the last value counts", "answer")


def about_cuts(response: SkillResponse) -> Iterator[Reason]:
    """A remark on an answer that was cut; of a conversation one on each turn whose answer was."""
    for place, answer in enumerate(response.turns or [response]):
        why = answer.finish_reason or finish_reason_of(answer.messages or ())
        if why is not None and why.lower().replace("-", "_") in _CUTS:
            said = remark(ANSWER_CUT, f"the answer was cut: its finish reason is {excerpt(why)}", "answer")
            yield said if response.turns is None else in_turn(place, said)


def run_remark(code: str, skill: str, items: int) -> str:
    """The line on a skill of which so many items of a run have the remark with this code."""
    return f"{skill} {_SAID_OF_A_RUN[code].format(items=plural(items, 'item'))}: see the reason {code} of each"
