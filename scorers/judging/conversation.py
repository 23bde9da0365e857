"""A question whose messages a caller has written, in the place of our own words around criteria and material."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from eval_skills.core.errors import InputError
from eval_skills.core.text import excerpt
from eval_skills.scorers.judging.prompt import Message, Question, form_of_reply, rule_of_markers
from eval_skills.scorers.judging.reply import Reply, reply_schema

R = TypeVar("R", bound=Reply)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation(Question[R]):
    """These messages in this order. Only the form of the reply is added, to the system's message; and `materials`, introduced by
    `instructions` and between markers, to the last message of a user. Whether what a skill has returned can be taken for an
    instruction is up to who wrote the messages.
    """

    said: tuple[Message, ...]

    def redacted(self, redact: Callable[[str], str]) -> Conversation[R]:
        """The same question with its messages and materials as `redact` leaves them."""
        cleaned = Question.redacted(self, redact)
        said = tuple({**each, "content": _texts(each["content"], redact)} for each in self.said)
        return replace(self, materials=cleaned.materials, said=said)

    def judged(self) -> tuple[str, ...]:
        """The same, and the messages, in which the caller may have put what a skill wrote."""
        return (*Question.judged(self), *(text for each in self.said for text in _texts_in(each["content"])))

    def nonce(self) -> str:
        """A random word for the markers that occurs nowhere in the messages and materials."""
        written = json.dumps(self.said, ensure_ascii=False, default=str)
        while (nonce := Question.nonce(self)) in written:
            pass
        return nonce

    def messages(self, nonce: str) -> list[Message]:
        """The prompt."""
        rules = [rule_of_markers(nonce)] if self.materials else []
        schema = json.dumps(reply_schema(self.reply), ensure_ascii=False)
        said = _added(list(self.said), "system", "\n\n".join([*rules, form_of_reply(schema)]))
        if not self.materials:
            return said
        shown = "\n\n".join([self.instructions, *(self.part(each, nonce) for each in self.materials)])
        return _added(said, "user", shown)


def messages_of(given: Any, source: str) -> tuple[Message, ...]:
    """The chat messages in what a caller's function returned: a text, or a list of mappings with role and content.

    Raises:
        InputError: it is neither; `source` names who returned it.
    """
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    if not isinstance(given, Sequence) or not given:
        raise InputError(f"expected a text or a list of chat messages, got {excerpt(given)}", source=source)
    return tuple(_message(each, f"{source}: message {number}") for number, each in enumerate(given, start=1))


def _message(given: Any, source: str) -> Message:
    if not isinstance(given, Mapping) or not isinstance(given.get("role"), str):
        raise InputError(f"expected a mapping with role and content, got {excerpt(given)}", source=source)
    content = given.get("content")
    if not isinstance(content, str) and not (isinstance(content, list) and all(isinstance(each, Mapping) for each in content)):
        raise InputError(f"its content is {excerpt(content)}; give a text, or a list of blocks", source=source)
    return dict(given)


def _texts_in(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [block["text"] for block in content if isinstance(block.get("text"), str)]


def _texts(content: Any, redact: Callable[[str], str]) -> Any:
    if isinstance(content, str):
        return redact(content)
    return [{**block, "text": redact(block["text"])} if isinstance(block.get("text"), str) else block for block in content]


def _added(said: list[Message], role: str, text: str) -> list[Message]:
    """The messages with a text at the end of the last one of that role; one of its own where there is none: the system's first,
    the user's last.
    """
    places = [place for place, each in enumerate(said) if each["role"] == role]
    if not places:
        alone = {"role": role, "content": text}
        return [alone, *said] if role == "system" else [*said, alone]
    last = said[places[-1]]
    content = last["content"]
    more = f"{content}\n\n{text}" if isinstance(content, str) else [*content, {"type": "text", "text": text}]
    return [*said[: places[-1]], {**last, "content": more}, *said[places[-1] + 1 :]]
