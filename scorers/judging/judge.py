"""A judging model: it is asked a question and gives a checked reply, or there is an error, never a guess."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from eval_skills.core.errors import JudgeError
from eval_skills.core.fingerprint import digest_of_json
from eval_skills.core.text import excerpt, one_line
from eval_skills.scorers.judging.budget import RunLimits
from eval_skills.scorers.judging.cache import CachedReply
from eval_skills.scorers.judging.errors import ProviderError
from eval_skills.scorers.judging.member import Member
from eval_skills.scorers.judging.prompt import PLACEHOLDER, PROMPT_VERSION, Message, Question
from eval_skills.scorers.judging.provider import LITELLM, Form, ModelCall, ModelReply, Transport
from eval_skills.scorers.judging.reply import Reply, Unreadable, read_reply, reply_schema
from eval_skills.scorers.judging.requests import TimeBudget

if TYPE_CHECKING:
    from eval_skills.scorers.judging.model import JudgeModel

R = TypeVar("R", bound=Reply)

READINGS = 3
"""How often a model may reply before its reply counts as unreadable."""

_FORMS: tuple[Form, ...] = ("schema", "object", "text")


@dataclass(frozen=True, slots=True)
class Ruling(Generic[R]):
    """A reply that was read and checked.

    `cached`: the model was not asked now. `readings` counts the model's replies to this question, unreadable ones included.
    `truncated` names the materials that were not shown whole, with the number of characters left out.
    """

    reply: R
    model: str
    cached: bool = False
    readings: int = 1
    truncated: dict[str, int] = field(default_factory=dict)


class Judge(Member):
    """One model of a run that judges. All judges of a run share its cache, budget and limits; get one from `Judges`."""

    def __init__(self, limits: RunLimits, model: JudgeModel, transport: Transport = LITELLM) -> None:
        super().__init__(limits, model, transport)
        self._form: Form | None = None

    def probe(self) -> ModelCall:
        """A question whose reply has one token."""
        question: list[Message] = [{"role": "user", "content": "Reply with: OK"}]
        return self._call(question, {}, "text", self.model.temperature, seed=0, max_tokens=1)

    async def ask(self, question: Question[R], *, vote: int = 0, temperature: float | None = None) -> Ruling[R]:
        """The model's reply. The same question with another `vote` is another one: it is not answered from the cache.

        Raises:
            JudgeError: there is no readable reply; the message says why, without the key.
        """
        asked = question.redacted(self.limits.redaction.text)
        degree = self.model.temperature if temperature is None else temperature
        if (cache := self.limits.cache) is None:
            return (await self._decide(asked, vote, degree))[0]
        key = self._key(asked, vote, degree)
        async with self.limits.here().lock(key):
            if (known := self._known(key, asked)) is not None:
                return known
            ruling, text = await self._decide(asked, vote, degree)
            await asyncio.to_thread(cache.write, key, CachedReply(text, ruling.model))
            return ruling

    async def request(self, call: ModelCall) -> ModelReply:
        """One request as it is, with the retries, limits and the counting of all others; its reply is not read.

        Raises:
            ProviderError: there is no reply.
            JudgeError: the budget is spent.
        """
        return await self._requests.make(call, TimeBudget.of(self.model.timeout_s))

    def _key(self, question: Question[R], vote: int, temperature: float) -> str:
        """A digest of all that a reply depends on; of the prompt without its nonce."""
        return digest_of_json(
            {
                "model": self.model.name,
                "apiBase": self.model.api_base,
                "prompt": [PROMPT_VERSION, question.version],
                "messages": question.messages(PLACEHOLDER),
                "materials": [[each.name, each.text] for each in question.materials],
                "schema": reply_schema(question.reply),
                "temperature": temperature,
                "maxTokens": question.max_tokens,
                "vote": vote,
            }
        ).removeprefix("sha256:")

    def _known(self, key: str, question: Question[R]) -> Ruling[R] | None:
        cache = self.limits.cache
        if cache is None or (found := cache.read(key)) is None:
            return None
        try:
            reply = read_reply(found.text, question.reply, question.judged())
        except Unreadable:
            cache.broken += 1
            return None
        for spending in self.limits.spent():
            spending.cached += 1
        return Ruling(reply, found.model, cached=True, truncated=question.truncated)

    async def _decide(self, question: Question[R], vote: int, temperature: float) -> tuple[Ruling[R], str]:
        messages = question.messages(question.nonce())
        time = TimeBudget.of(self.model.timeout_s)
        said, defect = "", ""
        for reading in range(1, READINGS + 1):
            reminder = [_reminder(defect)] if defect else []
            schema = reply_schema(question.reply)
            call = self._call([*messages, *reminder], schema, "schema", temperature, vote, question.max_tokens)
            reply = await self._in_the_best_form(call, time)
            try:
                read = read_reply(_text(reply, self.model.name), question.reply, question.judged())
                return Ruling(read, self.model.name, readings=reading, truncated=question.truncated), reply.text or ""
            except Unreadable as unreadable:
                said, defect = reply.text or "", str(unreadable)
        message = f"{self.model.name} gave no readable {question.wanted} in {READINGS} replies; {defect}: {excerpt(said)}"
        raise JudgeError(self.limits.clean(message), code="JUDGE_UNREADABLE")

    def _call(
        self, messages: list[Message], schema: dict[str, Any], form: Form, temperature: float, seed: int, max_tokens: int
    ) -> ModelCall:
        model = self.model
        return ModelCall(
            model=model.name, api_base=model.api_base, key=model.key, messages=messages, schema=schema, form=form,
            temperature=temperature, seed=seed, max_tokens=max_tokens,
        )  # fmt: skip

    async def _in_the_best_form(self, call: ModelCall, time: TimeBudget) -> ModelReply:
        """By schema where the model takes that, else in the next plainer form that it does take."""
        if self._form is None:
            self._form = await asyncio.to_thread(self.model.first_form)
        forms = _FORMS[_FORMS.index(self._form) :]
        for form in forms:
            try:
                reply = await self._requests.make(call.in_form(form), time)
            except ProviderError as error:
                if error.code != "JUDGE_REQUEST" or form == forms[-1]:
                    raise
            else:
                self._form = form
                return reply
        raise AssertionError("unreachable: the last form returns or raises")


_CALLS = frozenset({"tool_calls", "function_call"})
"""Reasons to stop with which a model waits for what its tools return: what it wrote beside the calls is not its last word."""


def _text(reply: ModelReply, model: str) -> str | None:
    if reply.finish == "content_filter":
        raise JudgeError(f"{model} refused to reply: its content filter stopped the reply", code="JUDGE_REFUSED")
    if reply.refusal:
        raise JudgeError(f"{model} refused to reply: {one_line(str(reply.refusal), 200)}", code="JUDGE_REFUSED")
    if reply.finish == "length":
        raise Unreadable("it was cut off because it was too long; reason in fewer words")
    if reply.has_calls and reply.finish in _CALLS:
        raise Unreadable("it called a tool, and there is none")
    return reply.text


def _reminder(defect: str) -> Message:
    words = f"Your last reply could not be used: {defect}. Reply again, with one JSON object of the schema alone."
    return {"role": "user", "content": words}
