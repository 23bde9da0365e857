"""How often one service is asked: as often as it bears, which its refusals teach (additive increase, multiplicative decrease)."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, fields
from typing import Self

MAX_WAIT_S = 120.0
"""The longest wait that a service may ask for: none may stall a run for ever."""

FORGOTTEN_S = 60.0
"""After so long without a request, what was learnt of a service is forgotten: its limits may be others by then."""

STEP, DOUBLING_S = 0.0005, 20.0
"""The share of the rate that every answer adds to it, and after how many seconds without a refusal that share has doubled."""

MOST, LEAST, LEAST_UNANSWERED = 0.97, 0.93, 0.5
"""A refusal leaves the rate at most, and at least, at this share of what it was; and where nothing was answered between two."""

SEARCH, MOST_SEARCH, SEARCH_AGAIN = 6.0, 0.25, 0.1
"""After the first refusal every answer adds so much, divided by the square of the number of answers that the first estimate rests
on, and no more than the second; after refusals without an answer between them the third. That looks for the rate, and ends with
the next refusal.
"""

NEW_AFTER_S = 1.0
"""Refusals that follow the last one more quickly are of the same cause."""

FIRST_WAIT_S = 0.5
"""The wait after a refusal that asks for none; it doubles from one to the next without an answer between them."""

SHORTEST_WAIT_S = 0.1


@dataclass(slots=True)
class Pace:
    """The pace of one service; all times in seconds of one clock, all rates in requests per second, 0: none is known.

    Until a service refuses, it is asked without any pace. A refusal makes the pace what the service has answered per second,
    waits included, within `LEAST` and `MOST` of what it was. From then on each answer that had to wait for its turn adds the same
    share, so it grows evenly with time, and faster where nothing is refused for long.
    """

    rate: float = 0.0
    next_at: float = 0.0
    held_until: float = 0.0
    used_at: float = 0.0
    # of the refusal that counted last
    refused_at: float = 0.0
    before: float = 0.0
    base: float = 0.0
    floor: float = LEAST_UNANSWERED
    searching: float = 0.0
    rounds: float = 0.0
    # what was answered from `since` to `until`, by which the rate was set, and after that
    since: float = 0.0
    until: float = 0.0
    counted: float = 0.0
    answers: float = 0.0

    def claim(self, now: float, declared: float | None = None, *, freely: bool = False) -> float:
        """The moment of the next request, which is then taken; `declared` is a rate that holds in any case.

        With `freely` only that rate counts, and not what the service has said.
        """
        self.refresh(now)
        self.since = self.since or now
        rates = [rate for rate in (declared, None if freely else self.rate) if rate]
        start = now if freely else max(now, self.held_until)
        if rates:
            start = max(start, self.next_at)
            self.next_at = start + 1 / min(rates)
        return start

    def answered(self, now: float, sent_at: float, *, waited: bool) -> None:
        """The request of `sent_at`, which had to wait for its turn or not, was answered."""
        self.used_at = now
        if self.refused_at and sent_at <= self.refused_at:  # it was under way, and speaks for what was borne until then
            self.counted += 1
            self._settle()
            return
        self.rounds = 0
        if not self.refused_at and now - self.since > FORGOTTEN_S:
            self.since, self.answers = now, 0
        self.answers += 1
        if self.rate and waited:
            self.rate += self._step(now)

    def refused(self, now: float, sent_at: float, asked_s: float | None) -> float:
        """The request of `sent_at` was refused, with a wait or without one; returns how long nothing is asked now."""
        self.used_at = now
        if self.refused_at and sent_at <= self.refused_at:
            self._hold(now, asked_s or 0.0)
            self.until = max(self.until, self.held_until)
            self._settle()
        elif self.refused_at and now - self.refused_at < NEW_AFTER_S:
            self._hold(now, max(SHORTEST_WAIT_S, asked_s or 0.0))
        else:
            self._slow_down(now, asked_s)
        return self.held_until - now

    def hold(self, now: float, wait_s: float) -> None:
        """Ask nothing for so long: the service said with an answer that its limit is used up."""
        self.used_at = now
        self._hold(now, wait_s)

    def joined(self, other: Self) -> None:
        """Count what was answered elsewhere, by `other`, before it knew of this pace."""
        if not other.answers:
            return
        self.since = min(self.since or other.since, other.since)
        if self.refused_at:
            self.counted += other.answers
            self._settle()
        else:
            self.answers += other.answers

    def refresh(self, now: float) -> None:
        """Forget everything where that is too long ago, or where the clock was set back."""
        is_of_another_time = self.held_until > now + MAX_WAIT_S + NEW_AFTER_S
        if is_of_another_time or (self.used_at and not -NEW_AFTER_S <= now - self.used_at <= FORGOTTEN_S + self._ahead):
            for field in fields(self):
                setattr(self, field.name, field.default)
        self.used_at = now

    @property
    def _ahead(self) -> float:
        """So long after the last use the next request may be made, at the earliest."""
        return max(0.0, self.held_until - self.used_at, self.next_at - self.used_at)

    def _slow_down(self, now: float, asked_s: float | None) -> None:
        own = FIRST_WAIT_S * 2.0 ** min(self.rounds, 20) if self.rounds or asked_s is None else 0.0
        self._hold(now, max(own, asked_s or 0.0))
        is_first = not self.refused_at
        if self.answers and not is_first:
            self.since, self.counted = self.until, self.answers
        elif self.answers:
            self.counted = self.answers
        self.floor = LEAST if self.answers else LEAST_UNANSWERED
        self.searching = 1.0 if is_first else 0.0 if self.answers else SEARCH_AGAIN
        self.rounds += 1
        self.before, self.answers = self.rate, 0
        self.refused_at, self.until = now, self.held_until
        self._settle()

    def _settle(self) -> None:
        """The rate by what was answered per second, with the wait that follows."""
        measured = self.counted / max(self.until - self.since, 1.0)  # limits are of a second, or of longer
        if self.before:
            measured = min(max(measured, self.floor * self.before), MOST * self.before)
        self.rate = self.base = measured

    def _step(self, now: float) -> float:
        calm_s = now - self.refused_at
        even: float = self.base * STEP * 2.0 ** min(calm_s / DOUBLING_S, 20.0) / self.rate
        quick = min(self.searching, MOST_SEARCH, SEARCH / max(self.counted, 1.0) ** 2)
        return max(even, quick)

    def _hold(self, now: float, wait_s: float) -> None:
        self.held_until = max(self.held_until, now + min(wait_s, MAX_WAIT_S))

    def packed(self) -> bytes:
        """The pace in `SIZE` bytes."""
        return _FORM.pack(_MAGIC, *(getattr(self, field.name) for field in fields(self)))

    @classmethod
    def unpacked(cls, data: bytes) -> Self | None:
        """The pace in these bytes; None: there is none in them."""
        if len(data) != SIZE:
            return None
        magic, *values = _FORM.unpack(data)
        return cls(*values) if magic == _MAGIC and all(map(math.isfinite, values)) else None


_MAGIC = b"esrate01"
_FORM = struct.Struct(f"<8s{len(fields(Pace))}d")
SIZE = _FORM.size
