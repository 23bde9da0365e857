"""What the skills of a run have used, as far as they said, and which limit of the run that has reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

from eval_skills.core.config.options import option_of
from eval_skills.core.models.result import KEPT_ANSWER, ItemKey, item_key_of
from eval_skills.core.store import ReachedLimit
from eval_skills.core.store.journal import read_journal
from eval_skills.core.text import plural
from eval_skills.reporting.stopping import FIELDS, resume_words

if TYPE_CHECKING:
    from eval_skills.core.models import ItemResult
    from eval_skills.core.store import Store
    from eval_skills.engine.evaluation.plan import RunPlan


class Spending:
    """What the items of one run used: sums of what was reported, and the items of which a part is unknown."""

    def __init__(self) -> None:
        self.cost_usd, self.tokens = 0.0, 0
        self.without_cost, self.without_tokens, self._items = set[ItemKey](), set[ItemKey](), set[ItemKey]()
        self._recorded = set[tuple[ItemKey, datetime]]()

    @property
    def items(self) -> int:
        """How many items were attempted."""
        return len(self._items)

    def add(self, item: ItemKey, cost_usd: float | None, *tokens: int | None) -> None:
        """One attempt at `item`, which used the sum of these `tokens`; None is unknown, and what is known beside it counts."""
        self._items.add(item)
        self.cost_usd += cost_usd or 0.0
        self.tokens += sum(part or 0 for part in tokens)
        if cost_usd is None:
            self.without_cost.add(item)
        if None in tokens:
            self.without_tokens.add(item)

    def add_recorded(self, key: ItemKey, result: Mapping[str, Any], attempts: Sequence[Mapping[str, Any]]) -> None:
        """An item as it was recorded: its last attempt is its own, the `attempts` before it hold what they took.

        A result that took the place of another repeats the attempts of that one: each counts once. An answer that was kept from
        another run cost this one nothing, and neither did the attempts that it took there.
        """
        is_kept = KEPT_ANSWER in {reason["code"] for reason in result["reasons"] or ()}
        for each in attempts[:-1]:
            took = each["cost_usd"], each["tokens"]
            if not (is_kept and took == (None, None)):
                self._add_once(key, each["started_at"], *took)
        if not is_kept:
            began = attempts[-1]["started_at"] if attempts else result["started_at"]
            self._add_once(key, began, result["cost_usd"], result["prompt_tokens"], result["completion_tokens"])

    def _add_once(self, key: ItemKey, began: datetime, cost_usd: float | None, *tokens: int | None) -> None:
        if (key, began) not in self._recorded:
            self._recorded.add((key, began))
            self.add(key, cost_usd, *tokens)


_COLUMNS = [
    "skill_id", "skill_version", "task_id", "run_index", "started_at", "attempts", "reasons", "prompt_tokens",
    "completion_tokens", "cost_usd",
]  # fmt: skip


def spent_before(store: Store, run_id: str) -> Spending:
    """What all earlier calls of a run used, by what has landed and by every line of its journal."""
    found = Spending()
    for batch in store.tables.batches("items", run_id):
        for row in batch.select(_COLUMNS).to_pylist():
            found.add_recorded(item_key_of(row), row, row["attempts"] or ())
    for result in read_journal(store.journal_path(run_id)):
        row = dict(result) | {"reasons": [dict(reason) for reason in result.reasons]}
        found.add_recorded(result.key, row, [dict(attempt) for attempt in result.attempts])
    return found


class Limits:
    """The limits of one run, and how far they are reached. Of recorded runs, which cost nothing here, only the time is limited.

    A limit that is reached stays reached. It may be used from several threads.
    """

    def __init__(self, plan: RunPlan) -> None:
        asked, self._store, self._run_id = plan.request, plan.store, plan.run_id
        self._cost, self._tokens = (asked.max_cost, asked.max_tokens) if plan.calls_skills else (None, None)
        self._duration_s, self._began = asked.max_duration_s, monotonic()
        self._resumed = bool(asked.resume)
        self._spent = Spending()
        self._reached: ReachedLimit | None = None
        self._has_warned = False

    def begin(self, began: float | None = None) -> None:
        """The run begins now, or began then (`time.monotonic`): from here on its time counts. What earlier calls used is read.

        Raises:
            RunError: the journal cannot be read.
        """
        self._began = monotonic() if began is None else began
        if self._resumed and (self._cost is not None or self._tokens is not None):
            self._spent = spent_before(self._store, self._run_id)

    @property
    def reached(self) -> ReachedLimit | None:
        """The limit that was reached first; None while there is none."""
        self._reached = self._reached or self._now_reached()
        return self._reached

    def _now_reached(self) -> ReachedLimit | None:
        if self._cost is not None and self._spent.cost_usd >= self._cost:
            return ReachedLimit(limit="cost", allowed=self._cost, spent=self._spent.cost_usd)
        if self._tokens is not None and self._spent.tokens >= self._tokens:
            return ReachedLimit(limit="tokens", allowed=self._tokens, spent=self._spent.tokens)
        if self._duration_s is not None and (passed := monotonic() - self._began) >= self._duration_s:
            return ReachedLimit(limit="duration", allowed=self._duration_s, spent=passed)
        return None

    @property
    def unwatched_s(self) -> float:
        """How long items may follow each other before `reached` must be asked again; 0 where it may depend on each of them."""
        if self._cost is not None or self._tokens is not None:
            return 0.0
        return inf if self._duration_s is None else max(0.0, self._began + self._duration_s - monotonic())

    def settle(self) -> None:
        """Nothing is in flight any more: the limit that was reached says what was spent in the end."""
        if self._reached is not None:
            spent = {"cost": self._spent.cost_usd, "tokens": self._spent.tokens, "duration": monotonic() - self._began}
            self._reached = self._reached.model_copy(update={"spent": spent[self._reached.limit]})

    def add(self, result: ItemResult) -> str | None:
        """Count an attempt, whether it is the last of its item or not; returns a warning, once, when an answer does not say what
        a limit is about."""
        self._spent.add(result.key, result.cost_usd, result.prompt_tokens, result.completion_tokens)
        if self._has_warned or result.error_kind is not None:  # an attempt that failed may have had nothing to say
            return None
        for name, what, known in (("cost", self._cost, result.cost_usd), ("tokens", self._tokens, result.tokens)):
            if what is not None and known is None:
                self._has_warned = True
                return f"{result.skill_key} does not say {_ASKED[name]}: {_option(name)} does not bound what is not reported"
        return None

    @property
    def remarks(self) -> list[str]:
        """What was not bounded, because it is unknown."""
        found = []
        for name, limit, without in (
            ("cost", self._cost, self._spent.without_cost),
            ("tokens", self._tokens, self._spent.without_tokens),
        ):
            if limit is not None and without:
                of = f"{len(without):,} of {plural(self._spent.items, 'item')}"
                what = "the cost" if name == "cost" else "the number of tokens"
                found.append(f"{what} of {of} is unknown, at least in part: {_option(name)} did not bound it")
        return found


_ASKED = {"cost": "what an answer cost", "tokens": "how many tokens an answer took"}


def _option(limit: str) -> str:
    return option_of(FIELDS[limit])


def record_stop(plan: RunPlan, reached: ReachedLimit | None) -> None:
    """Write into the manifest which limit stopped the run, or that none does any more."""
    plan.amend_manifest(stopped=reached)


def continue_words(reached: ReachedLimit, command: str, run_id: str, store: str) -> str:
    """How to go on: ``continue with more than that: eval-skills eval --resume RUN --max-cost USD``.

    What a run may take is for its whole life, so its limit must be raised; a resume has the time of one call again.
    """
    resume = resume_words(run_id, store, reached.name, command)
    return f"{'continue for as long again with' if reached.limit == 'duration' else 'raise the limit to continue'}: {resume}"
