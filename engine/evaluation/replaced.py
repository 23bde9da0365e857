"""Results that are replaced: `--retry-errors` asks their items again, and what they took was paid all the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from eval_skills.core.models import Attempt, ItemResult, SkillResponse
from eval_skills.core.store import results_of
from eval_skills.engine.judging.outcome import item_with_cost_before
from eval_skills.scorers.judging.budget import Spending
from eval_skills.scorers.tools.calls import known_calls

if TYPE_CHECKING:
    from eval_skills.core.models.result import ItemKey
    from eval_skills.engine.evaluation.plan import Item


@dataclass(frozen=True, slots=True)
class Replaced:
    """The result of an earlier call of the run at an item that is asked again, with all `attempts` at the item so far."""

    result: ItemResult
    attempts: list[Attempt]

    @classmethod
    def of(cls, result: ItemResult) -> Replaced:
        """The result as it was recorded; one of an older version may not say what its last attempt took."""
        *before, last = result.attempts or [Attempt(started_at=result.started_at, latency_ms=result.latency_ms)]
        took = {"error_kind": result.error_kind, "cost_usd": result.cost_usd, "tokens": result.tokens}
        return cls(result, [*before, last.model_copy(update=took)])

    @property
    def is_open(self) -> bool:
        """Whether it is open if an attempt called a forbidden tool: another answer does not settle that."""
        return self.result.forbidden_unknown

    def added_to(self, result: ItemResult) -> ItemResult:
        """The result that takes its place, with the attempts before it, and what judging and playing the user cost then."""
        known = {attempt.started_at for attempt in self.attempts}  # those that are open were given to the new attempt
        attempts = [*self.attempts, *(attempt for attempt in result.attempts if attempt.started_at not in known)]
        update = {"attempts": attempts, "earlier_calls": self._called_before(result), **self._paid_for_users(result)}
        return self._with_cost_of_judging(result.model_copy(update=update))

    def _called_before(self, result: ItemResult) -> list[str] | None:
        """The tools that all attempts before the last one called; None where that is unknown."""
        then = self.result
        answer = SkillResponse(
            messages=then.messages,
            tool_calls=then.tool_calls,
            turns=None if then.turns is None else [turn.answer for turn in then.turns],
        )
        last = known_calls(answer)
        first = then.earlier_calls if len(self.attempts) > 1 else []
        own = result.earlier_calls if len(result.attempts) > 1 and not self.is_open else []
        if self.is_open or last is None or first is None or own is None:
            return None
        return [*first, *(call.name for call in last), *own]

    def _paid_for_users(self, result: ItemResult) -> dict[str, int | float | None]:
        if (then := self.result).user_requests is None:
            return {}
        paid = Spending(then.user_tokens, then.user_cost_usd, then.user_requests)
        if result.user_requests is not None:
            paid.add(result.user_tokens, result.user_cost_usd, result.user_requests)
        return paid.fields("user")

    def _with_cost_of_judging(self, result: ItemResult) -> ItemResult:
        if not _was_judged(self.result):
            return result
        if _was_judged(result):
            return item_with_cost_before(result, self.result)
        paid = {name: getattr(self.result, name) for name in ("judge_requests", "judge_tokens", "judge_cost_usd")}
        return result.model_copy(update=paid)


def _was_judged(result: ItemResult) -> bool:
    return result.judge_requests is not None or result.error_kind == "judge"


def replaced_results(rows: pa.Table, keys: Iterable[ItemKey], items: Iterable[Item]) -> dict[Item, Replaced]:
    """What is replaced of `items`, by rows with `ITEM_SCHEMA`, whose `keys` are in their order."""
    asked = {item.key: item for item in items}
    found = [(number, asked[key]) for number, key in enumerate(keys) if key in asked]
    results = results_of(rows.take(pa.array([number for number, _ in found], pa.int64())))
    return {item: Replaced.of(result) for (_, item), result in zip(found, results, strict=True)}
