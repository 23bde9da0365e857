"""The services that a run asks: each request waits for its turn, and what the service says of it sets the pace of all.

A service is named by its host and port, so all skills behind one share its pace; so do the processes of one user on one machine.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from eval_skills.core.cache_files import cache_folder
from eval_skills.core.rate_limits.headers import exhausted_s
from eval_skills.core.rate_limits.ledger import Ledger
from eval_skills.core.rate_limits.pace import MAX_WAIT_S
from eval_skills.core.rate_limits.rate import per_second, rate_words

GIVEN_UP_S, GIVEN_UP_REFUSALS = 120.0, 5
"""A service that has refused who asks for so long, and so often in a row, is given up: its refusals are errors then."""

MAX_THROTTLED_S = 600.0
"""So long an item that is refused is asked again while others are answered; then the refusal is an error."""

LOOK_AGAIN_S = 0.25
"""How often it is looked whether a wait still makes sense."""

_PORTS = {"http": 80, "https": 443}


def service_of(url: str) -> str:
    """The name of the service behind an address: ``127.0.0.1:8000``, or the host alone where the port is the usual one. What is
    not an address, such as the name of a provider, stays as it is.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return url
    if not host:
        return url
    host = f"[{host}]" if ":" in host else host
    return host if port in (None, _PORTS.get(parts.scheme)) else f"{host}:{port}"


@dataclass(frozen=True, slots=True)
class Throttled:
    """A service refused a request because there were too many; nothing is asked for `wait_s`, and then `rate_per_s` requests
    per second (None: it is not known what the service allows)."""

    service: str
    wait_s: float
    rate_per_s: float | None = None

    def __str__(self) -> str:
        """``127.0.0.1:8000 allows about 20/s; waiting``."""
        if self.rate_per_s:
            return f"{self.service} allows about {rate_words(self.rate_per_s)}; waiting"
        return f"{self.service} asks for fewer requests; waiting {self.wait_s:,.3g} s"


class NoTurn(Exception):
    """Who waited for a turn need not wait any more, and has asked nothing."""


BeforeRequest = Callable[[str], Awaitable[None]]


async def at_once(service: str) -> None:
    """What happens before a request to `service` unless a run sets something else: nothing."""


def _to_nobody(throttled: Throttled) -> None:
    """Who hears of a refusal unless a run says: nobody."""


class Services:
    """All services of one run. `rate` (``60/min``) holds for each of them in any case, in equal steps.

    `before_request` is awaited before each request (a place at a limit that machines share), `listener` hears of refusals, from
    any thread.
    """

    def __init__(self, rate: str | None = None) -> None:
        self.declared = None if rate is None else per_second(rate)
        self.before_request: BeforeRequest = at_once
        self.listener: Callable[[Throttled], None] = _to_nobody
        self._callers: dict[tuple[str, str], Caller] = {}
        self._queues: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Lock]] = WeakKeyDictionary()

    def caller(self, url: str, who: str) -> Caller:
        """`who`, a skill or a model, as one that asks the service behind `url`; the same for the same."""
        return self._callers.setdefault((service_of(url), who), Caller(self, service_of(url)))

    def queue(self, name: str) -> asyncio.Lock:
        """Held by who is the next on the running event loop to ask the service of this name."""
        return self._queues.setdefault(asyncio.get_running_loop(), {}).setdefault(name, asyncio.Lock())


class Caller:
    """One skill, or one model, that asks the service of this name; see `Services.caller`."""

    def __init__(self, services: Services, name: str) -> None:
        self.services, self.name = services, name
        self.ledger = _ledger_of(name)
        self._refusals, self._refused_since, self._refused_at = 0, 0.0, 0.0

    @property
    def has_given_up(self) -> bool:
        """Whether every request was refused for so long that no pace makes sense."""
        return self._refusals >= GIVEN_UP_REFUSALS and time.time() - self._refused_since > GIVEN_UP_S

    def note_answer(self) -> None:
        """A request was answered."""
        self._refusals = 0

    def note_refusal(self, sent_at: float) -> None:
        """The request of `sent_at` was refused; those that were under way at the same time count once."""
        now = time.time()
        if not self._refusals:
            self._refused_since = now
        if not self._refusals or sent_at > self._refused_at:
            self._refusals, self._refused_at = self._refusals + 1, now

    async def turn(self, is_over: Callable[[], bool] | None = None) -> Turn:
        """Wait until a request may be made; it must be made at once then.

        Raises:
            NoTurn: `is_over` became true before that.
        """
        async with self.services.queue(self.name):
            waited = await self._wait(is_over)
        await self.services.before_request(self.name)
        return Turn(self, time.time(), waited)

    async def _wait(self, is_over: Callable[[], bool] | None) -> bool:
        """Return when it is this caller's turn, and whether it had to wait for that."""
        freely, waited = self.has_given_up, False
        while True:
            with self.ledger.pace(publish=self.services.declared is not None) as pace:
                start = pace.claim(now := time.time(), self.services.declared, freely=freely)
            if start <= now:
                return waited
            waited = True
            while (rest := start - time.time()) > 0:
                if is_over is not None and is_over():
                    raise NoTurn
                await asyncio.sleep(min(rest, LOOK_AGAIN_S))
            with self.ledger.pace() as pace:
                is_held = pace.held_until > time.time() and not freely
            if not is_held:  # nobody was refused meanwhile
                return waited


@dataclass(slots=True)
class Turn:
    """One request, from the moment on at which it may be made; one of the methods says what became of it."""

    caller: Caller
    sent_at: float
    waited: bool

    def answered(self, headers: Mapping[str, str] | None = None) -> None:
        """The service dealt with it, and may say that its limit is used up now."""
        self.caller.note_answer()
        wait_s = exhausted_s(headers) if headers else None
        with self.caller.ledger.pace(publish=bool(wait_s)) as pace:
            pace.answered(time.time(), self.sent_at, waited=self.waited)
            if wait_s is not None and wait_s <= MAX_WAIT_S:
                pace.hold(time.time(), wait_s)

    def refused(self, asked_s: float | None) -> Throttled | None:
        """The service asks for fewer requests, and perhaps for a wait. None: it is not worth waiting for, since the wait is too
        long or the service has been given up.
        """
        caller, now = self.caller, time.time()
        caller.note_refusal(self.sent_at)
        if caller.has_given_up or (asked_s is not None and asked_s > MAX_WAIT_S):
            return None
        with caller.ledger.pace(publish=True) as pace:
            wait_s = pace.refused(now, self.sent_at, asked_s)
            throttled = Throttled(caller.name, wait_s, pace.rate or None)
        caller.services.listener(throttled)
        return throttled


_ledgers: dict[tuple[Path, str], Ledger] = {}
_ledgers_lock = Lock()


def _ledger_of(name: str) -> Ledger:
    """The ledger of this process for the service of this name; all runs share it."""
    folder = cache_folder("rates")
    with _ledgers_lock:
        return _ledgers.setdefault((folder, name), Ledger(folder, name))
