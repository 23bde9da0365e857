"""Answers that are kept between runs: an unchanged skill that was asked the same before is not called again.

An entry is the line of a recording, named by the digest of everything that the answer is known to depend on. A service behind the
skill, or a file outside its folder, may have changed unseen: asking for the cache says that this does not matter.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from eval_skills.adapters.recorded import RecordedRun, read_recorded, recorded_line
from eval_skills.core.cache_files import cache_folder, write_entry
from eval_skills.core.errors import InputError
from eval_skills.core.fingerprint import canonical_json, digest_of_passed_over
from eval_skills.core.models import ItemResult, Reason
from eval_skills.core.models.result import KEPT_ANSWER
from eval_skills.core.redaction import Redaction
from eval_skills.core.text import first_of, plural
from eval_skills.engine.evaluation.execution import Outcome, judged
from eval_skills.engine.evaluation.plan import Item, RunPlan
from eval_skills.engine.evaluation.recordings import asked_digest

FORMAT = 1
_SETTINGS = ("memory_mb", "cpu_seconds", "open_files", "max_output_bytes", "sandbox", "sandbox_network", "sandbox_paths")


class AnswerCache:
    """The kept answers of one run's skills. Errors are not kept, nor an answer that holds a secret: neither would be true later.

    Each run of a task has an answer of its own, so that the consistency of a skill is never that of one answer, unless
    `cache_runs` says so. Skills without a folder (functions), those whose ``metadata.deterministic`` is false, and tasks with a
    simulated user are asked every time.
    """

    def __init__(self, plan: RunPlan, redaction: Redaction) -> None:
        self._plan, self._redaction = plan, redaction
        self._folder = cache_folder("answers") / f"v{FORMAT}"
        self._passed_over: dict[str, str] = {}
        self._unreadable: list[str] = []
        self._turns: defaultdict[Path, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._unwritable = ""
        self.found = 0

    def prepare(self) -> None:
        """Look at what the digests of the skills' folders pass over: packages and what links lead to change answers, too."""
        for key, skill in self._plan.skills.items():
            if skill.folder is not None:
                try:
                    self._passed_over[key] = digest_of_passed_over(skill.folder)
                except InputError as error:
                    self._unreadable.append(f"answers of {key} are not kept, as a change of it may go unseen: {error}")

    @asynccontextmanager
    async def turn(self, item: Item) -> AsyncIterator[None]:
        """Runs of a task that share an answer wait here for the one that asks."""
        if self._plan.request.cache_runs and (file := self._file(item)) is not None:
            async with self._turns[file]:
                yield
        else:
            yield

    async def outcome(self, item: Item) -> Outcome | None:
        """The outcome of an item whose answer is kept, judged now; None where it is to be asked."""
        if (file := self._file(item)) is None or (recorded := _read(file)) is None:
            return None
        self.found += 1
        now = datetime.now(UTC)
        outcome = await judged(item, self._plan, recorded, now)
        remark = Reason(code=KEPT_ANSWER, message="the answer was kept from an earlier call (--cache)", informational=True)
        return Outcome(outcome.result.model_copy(update={"reasons": [*outcome.result.reasons, remark]}))

    def keep(self, item: Item, result: ItemResult) -> None:
        """Keep the answer of a call; a cache that cannot be written costs calls later, and `remarks` say so."""
        if (file := self._file(item)) is None or result.error_kind not in (None, "scorer", "judge"):
            return
        line = recorded_line(result, asked_digest(self._plan.scorings[item.task].task))
        if line is None or self._redaction.touches(line.decode()):
            return
        try:
            write_entry(file, line)
        except OSError as error:
            self._unwritable = error.strerror or str(error)

    def remarks(self) -> list[str]:
        """What the cache did, each as one line."""
        asked = self._plan.planned - self._plan.finished
        kept = f"{self.found} of {plural(asked, 'answer')} {'was' if self.found == 1 else 'were'} kept from earlier calls"
        lines = [kept] if self.found else []
        if uncached := [key for key, skill in self._plan.skills.items() if skill.folder is None]:
            lines.append(f"answers of functions are not kept, as a change of one goes unseen: {first_of(uncached, 3)}")
        lines += self._unreadable
        if self._unwritable:
            lines.append(f"answers could not be kept in {self._folder}: {self._unwritable}")
        return lines

    def _file(self, item: Item) -> Path | None:
        plan, skill = self._plan, self._plan.skills[item.skill]
        task = plan.scorings[item.task].task
        if task.user is not None or skill.metadata.get("deterministic") is False or skill.key not in self._passed_over:
            return None
        about = {
            "skill": plan.digests[skill.key],
            "passedOver": self._passed_over[skill.key],
            "id": skill.key,
            "asked": task.asked,
            "run": None if plan.request.cache_runs else item.run,
            "timeoutMs": plan.timeout_s(task) * 1000,
            **{name: getattr(plan.request, name) for name in _SETTINGS},
        }
        name = sha256(canonical_json(about).encode()).hexdigest()
        return self._folder / name[:2] / f"{name}.json"


def _read(file: Path) -> RecordedRun | None:
    """The kept run; None where there is none, or one that cannot be read: it is replaced then."""
    try:
        return read_recorded(file.read_bytes(), str(file))
    except (OSError, InputError):
        return None
