"""Runs that are going on: how far each is, read from its journal as that grows."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from eval_skills.core.errors import RunError, UsageError
from eval_skills.core.models.result import ERROR_STATUSES, ItemKey, item_key_of
from eval_skills.core.store.files import is_locked

if TYPE_CHECKING:
    from pathlib import Path

    from eval_skills.core.store import Store

EVERY_S = 1.0
RATE_WINDOW_S = 30.0
"""The rate is that of the items which ended in so many seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is. `rate` is in items per second, `left_s` the time that the rest takes at this rate, None where nothing
    ended lately; `cost_usd` is what skills and judges were paid so far, None where the cost of an item is not known.

    `is_running` says that a process writes into the journal; without one the run was interrupted, or it `stopped` at that limit.
    """

    run: str
    done: int
    planned: int | None
    passed: int
    failed: int
    errors: int
    rate: float | None
    left_s: float | None
    cost_usd: float | None
    is_running: bool
    stopped: str | None


@dataclass(slots=True)
class WatchedRun:
    """The journal of one run, of which each line is read once."""

    store: Store
    run_id: str
    _offset: int = 0
    _items: dict[ItemKey, dict[str, Any]] = field(default_factory=dict)

    def progress(self) -> Progress | None:
        """How far the run is; None where it has no journal: it has landed, or never began."""
        path = self.store.journal_path(self.run_id)
        if not path.exists():
            return None
        self._read(path)
        items, manifest = list(self._items.values()), self.store.find_manifest(self.run_id)
        planned = None if manifest is None else manifest.planned_items
        rate = _rate(items)
        left = None if not rate or planned is None else max(0, planned - len(items)) / rate
        costs = [item["cost"] for item in items]
        return Progress(
            run=self.run_id,
            done=len(items),
            planned=planned,
            passed=sum(item["status"] == "pass" for item in items),
            failed=sum(item["status"] == "fail" for item in items),
            errors=sum(item["status"] in ERROR_STATUSES for item in items),
            rate=rate,
            left_s=left,
            cost_usd=None if None in costs else sum(costs),
            is_running=is_written(path),
            stopped=None if manifest is None or manifest.stopped is None else manifest.stopped.name,
        )

    def _read(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                file.seek(self._offset)
                text = file.read()
        except FileNotFoundError:
            return
        whole = text.rfind(b"\n") + 1
        self._offset += whole
        for line in text[:whole].splitlines():
            if (item := _item(line)) is not None:
                self._items[item["key"]] = item


def _item(line: bytes) -> dict[str, Any] | None:
    """What is counted of a line; None where it is damaged: the run itself says so when it lands."""
    try:
        found = json.loads(line)
        ended = datetime.fromisoformat(found["started_at"]) + timedelta(milliseconds=found["latency_ms"] or 0)
        key = item_key_of(found)
        paid = [found.get(name) for name in ("judge_cost_usd", "user_cost_usd")]
        own = [found.get("cost_usd"), *(each.get("cost_usd") for each in (found.get("attempts") or [])[:-1])]
        cost = None if None in own else sum(own) + sum(each or 0 for each in paid)
        return {"key": key, "status": found["status"], "ended": ended, "cost": cost}
    except (ValueError, KeyError, TypeError, OverflowError):
        return None


def _rate(items: list[dict[str, Any]]) -> float | None:
    now = datetime.now(UTC)
    ends: list[datetime] = [item["ended"] for item in items]
    lately = [ended for ended in ends if (now - ended).total_seconds() <= RATE_WINDOW_S]
    if not lately:
        return None
    window = min(RATE_WINDOW_S, max(1.0, (now - min(ends)).total_seconds()))
    return len(lately) / window


def is_written(journal: Path) -> bool:
    """Whether a process has locked this journal. The id in the lock's file says nothing: it may be a copy, or of an earlier boot
    or another container, where another process has that id by now.
    """
    try:
        return journal.exists() and is_locked(journal)
    except OSError:  # somebody else's, and not for this user to read
        return False


@dataclass(slots=True)
class LiveRuns:
    """All runs of a store that are going on, for as long as one browser looks."""

    store: Store
    _watched: dict[str, WatchedRun] = field(default_factory=dict)

    def progress(self) -> list[Progress]:
        """How far each is, the youngest first."""
        folder = self.store.layout.root / "runs"
        names = sorted((path.parent.name for path in folder.glob("*/journal.jsonl")), reverse=True)
        for name in names:
            self._watched.setdefault(name, WatchedRun(self.store, name))
        self._watched = {name: self._watched[name] for name in names}
        found = []
        for watched in self._watched.values():
            try:
                found.append(watched.progress())
            except (UsageError, RunError):  # a folder that is not a run, or that is just being removed
                continue
        return [each for each in found if each is not None]

    async def events(self, is_ending: Callable[[], bool]) -> AsyncIterator[bytes]:
        """Server-sent events: a list of `Progress` whenever it changed, else a comment, until the server `is_ending`."""
        last = ""
        while not is_ending():
            found = await asyncio.to_thread(self.progress)
            text = json.dumps([asdict(each) for each in found])
            yield f"data: {text}\n\n".encode() if text != last else b": nothing new\n\n"
            last = text
            await asyncio.sleep(EVERY_S)
