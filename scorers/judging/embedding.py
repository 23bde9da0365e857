"""A model that turns texts into vectors, each text once, and how alike two vectors are."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Sequence
from itertools import starmap
from operator import mul

from eval_skills.core.errors import JudgeError
from eval_skills.core.fingerprint import digest_of_json
from eval_skills.core.text import encodable
from eval_skills.scorers.judging.cache import CachedReply, VerdictCache
from eval_skills.scorers.judging.member import Member
from eval_skills.scorers.judging.provider import EmbeddingCall
from eval_skills.scorers.judging.requests import TimeBudget

Vector = tuple[float, ...]


class Embedder(Member):
    """One embedding model of a run: its requests are tried again, limited, counted and cached like a judge's questions."""

    PRICES = "llm.embeddingPrice"

    def probe(self) -> EmbeddingCall:
        """The vector of one word."""
        return self._call("OK")

    async def embed(self, text: str) -> Vector:
        """The vector of a text, which is shown to the model without the run's secrets.

        Raises:
            JudgeError: there is none; the message says why, without the key.
        """
        shown = encodable(self.limits.redaction.text(text))
        if (cache := self.limits.cache) is None:
            return await self._ask(shown)
        key = self._key(shown)
        async with self.limits.here().lock(key):
            if (known := self._known(cache, key)) is not None:
                return known
            vector = await self._ask(shown)
            await asyncio.to_thread(cache.write, key, CachedReply(json.dumps(vector), self.model.name))
            return vector

    async def _ask(self, text: str) -> Vector:
        return (await self._requests.make(self._call(text), TimeBudget.of(self.model.timeout_s))).vector

    def _call(self, text: str) -> EmbeddingCall:
        return EmbeddingCall(model=self.model.name, api_base=self.model.api_base, key=self.model.key, text=text)

    def _key(self, text: str) -> str:
        content = {"embedding": text, "model": self.model.name, "apiBase": self.model.api_base}
        return digest_of_json(content).removeprefix("sha256:")

    def _known(self, cache: VerdictCache, key: str) -> Vector | None:
        if (found := cache.read(key)) is None:
            return None
        try:
            vector = tuple(map(float, json.loads(found.text)))
        except (ValueError, TypeError):
            cache.broken += 1
            return None
        for spending in self.limits.spent():
            spending.cached += 1
        return vector


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of the angle between two vectors, in [-1, 1].

    Raises:
        JudgeError: they have different lengths, or one of them has no direction.
    """
    if len(one) != len(other):
        message = f"the embedding model gave vectors of {len(one)} and of {len(other)} numbers, which cannot be compared"
        raise JudgeError(message, code="JUDGE_UNREADABLE")
    lengths = math.hypot(*one) * math.hypot(*other)
    if not lengths or not math.isfinite(lengths):
        raise JudgeError("the embedding model gave a vector without a direction", code="JUDGE_UNREADABLE")
    return max(-1.0, min(1.0, math.fsum(starmap(mul, zip(one, other, strict=True))) / lengths))
