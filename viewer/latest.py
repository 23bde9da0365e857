"""The latest of a store in object storage, for pages that somebody looks at."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from eval_skills.core.errors import EvalSkillsError

if TYPE_CHECKING:
    from eval_skills.core.store import Store

WAIT_S = 2.0
"""So long a page waits for what is new. If that takes longer, it shows what is here, and another page shows the rest."""


@dataclass(slots=True)
class Latest:
    """Looks for what is new before a page is made. Where that fails, pages show what is here, and it is told once."""

    store: Store
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _looking: threading.Thread | None = None
    _told: set[str] = field(default_factory=set)

    def look(self) -> None:
        """Bring what is new here, as far as that is done soon; nothing of a store in a folder."""
        if self.store.mirror is None:
            return
        with self._turn:
            if self._looking is None or not self._looking.is_alive():
                self._looking = threading.Thread(target=self._refresh, name="eval-skills-view-latest", daemon=True)
                self._looking.start()
            looking = self._looking
        looking.join(WAIT_S)

    def _refresh(self) -> None:
        problems = []
        try:
            self.store.refresh()
        except EvalSkillsError as error:
            problems = [f"{error}; until then, pages show what was there at the last look"]
        for line in (*problems, *self.store.remarks):
            if line not in self._told:
                self._told.add(line)
                self.store.tables.tell(line)
