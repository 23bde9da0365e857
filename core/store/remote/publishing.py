"""Publishing: what landed in a mirror goes to the bucket, what makes a run visible last, and nothing of others is overwritten."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, groupby
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from eval_skills.core.errors import EvalSkillsError, InputError, RunError
from eval_skills.core.store.digests import record_digests, recorded_digests
from eval_skills.core.store.files import make_folder
from eval_skills.core.store.layout import JOURNAL, Layout
from eval_skills.core.store.manifest import read_manifest
from eval_skills.core.store.remote.bucket import Bucket, ObjectConflict
from eval_skills.core.store.remote.index import FOLDER, Index
from eval_skills.core.store.remote.names import SharedName, shared_name
from eval_skills.core.store.remote.rows import merged_rows
from eval_skills.core.text import plural

if TYPE_CHECKING:
    from os import stat_result

PUBLISHING_S = 900.0
"""The longest that one run may take from its items to its manifest. Until then others do not see items without a manifest; after
it, who wrote them was stopped."""

PARALLEL = 16
"""Objects that are read, or written, at a time: each is mostly a wait."""

_TRIES = 5


@dataclass(slots=True)
class Refused:
    """The files that were not published since the bucket has others under their names. They are kept aside."""

    url: str
    aside: Path
    files: list[SharedName] = field(default_factory=list)

    def __str__(self) -> str:
        shown = ", ".join(f"{self.url}/{each.name}" for each in self.files[:3])
        more = f" and {len(self.files) - 3} more" if len(self.files) > 3 else ""
        return (
            f"another machine wrote {_about(self.files)} meanwhile: {shown}{more}; nothing there was overwritten, and what this "
            f"machine had is kept in {self.aside}"
        )


class Publication:
    """One attempt to publish what is `here`, the shared files of a mirror with their states, and not in the bucket as the index
    has it."""

    def __init__(self, layout: Layout, url: str, bucket: Bucket, index: Index, here: dict[str, stat_result]) -> None:
        self._layout, self._url, self._bucket, self._index, self._here = layout, url, bucket, index, here
        self._root = layout.root
        self._numbers = count()
        self.refused = Refused(url, self._root / FOLDER / "refused")
        self.lost: list[str] = []
        """Files that were changed here by something else than landing: they are aside, and to be fetched again."""

    def run(self) -> None:
        """Publish what is ready.

        Raises:
            UserError: the credentials may not write.
            RunError: the service cannot be reached; the message says what is kept, and that the next command goes on.
        """
        waiting = list(self._ready())
        for _, turn in groupby(list(waiting), key=lambda each: each.rank):
            files = [each for each in turn if not self._is_refused(each)]
            waiting = [each for each in waiting if each not in files]
            left, problem = self._send_all(files)
            if problem is not None:
                raise type(problem)(f"{problem}; {self._kept([*left, *waiting])}") from None

    def _ready(self) -> Iterable[SharedName]:
        changed = [name for name, state in self._here.items() if not self._is_known(name, state)]
        found = [each for name in changed if (each := shared_name(name)) is not None]
        return sorted((each for each in found if self._is_ready(each)), key=lambda each: (each.rank, each.name))

    def _is_known(self, name: str, state: stat_result) -> bool:
        known = self._index.files.get(name)
        return known is not None and known.is_like(state)

    def _is_ready(self, each: SharedName) -> bool:
        """Whether a file may be published: a run that is not finished is of this machine, and its manifest comes last."""
        if not each.run_id:
            return True
        if os.path.exists(self._layout.run_file(each.run_id, JOURNAL)):
            return False
        if not each.is_manifest or each.name in self._index.files:
            return True
        landed = self._landed.get(each.run_id, {})
        is_complete = "reports" in landed and ("items" in landed or f"runs/{each.run_id}/pruned" in self._here)
        return is_complete or (bool(landed) and time() - max(landed.values()) > PUBLISHING_S)

    @cached_property
    def _landed(self) -> dict[str, dict[str, float]]:
        """When the items and reports of each run landed."""
        found: dict[str, dict[str, float]] = {}
        for name, state in self._here.items():
            if (each := shared_name(name)) is not None and each.run_id and each.table:
                found.setdefault(each.run_id, {})[each.table] = state.st_mtime
        return found

    @cached_property
    def _digests(self) -> dict[str, list[str]]:
        return recorded_digests(self._layout)

    def _is_refused(self, each: SharedName) -> bool:
        """Whether its run was refused before: then this file is, too."""
        if not each.run_id or each.run_id not in {other.run_id for other in self.refused.files}:
            return False
        self._refuse(each)
        return True

    def _send_all(self, files: list[SharedName]) -> tuple[list[SharedName], EvalSkillsError | None]:
        """Publish these side by side; returns those that were not, and the first problem."""
        _ = self._digests if files else None  # once, not in every thread

        def send(each: SharedName) -> EvalSkillsError | None:
            try:
                self._send(each)
            except EvalSkillsError as error:
                return error
            return None

        with ThreadPoolExecutor(min(PARALLEL, max(len(files), 1))) as writers:
            problems = list(writers.map(send, files))
        self._index.save()
        left = [each for each, problem in zip(files, problems, strict=True) if problem is not None]
        return left, next(filter(None, problems), None)

    def _send(self, each: SharedName) -> None:
        path = self._root / each.name
        state, content = path.stat(), path.read_bytes()
        digest, known = hashlib.sha256(content).hexdigest(), self._index.files.get(each.name)
        if known is not None and known.digest == digest:
            self._index.note(each.name, known.tag, state, digest)  # it was written again as it was
        elif self._is_as_written(each, digest):
            self._put(each, content, known.tag if known is not None else None)
        elif known is not None:
            self._aside(each)
            self.lost.append(each.name)

    def _put(self, each: SharedName, content: bytes, replaces: str | None) -> None:
        """Write the object if it is as this machine knew it; else see what is there, and decide."""
        path = self._root / each.name
        for _ in range(_TRIES):
            state, digest = path.stat(), hashlib.sha256(content).hexdigest()
            try:
                self._index.note(each.name, self._bucket.put(each.name, content, replaces=replaces), state, digest)
                return
            except ObjectConflict:
                scratch = self._scratch()
                theirs = self._bucket.fetch(each.name, scratch)
            if theirs is None:
                replaces = None
            elif theirs.digest == digest:  # a process that was stopped, or a request that was repeated, had written it
                self._index.note(each.name, theirs.tag, state, digest)
                return
            elif self._is_of_one_writer(each):
                self._refuse(each)
                return
            else:
                content, replaces = self._joined(each, content, scratch), theirs.tag
        raise RunError(f"{self._url}/{each.name} is written by others again and again")

    def _joined(self, each: SharedName, content: bytes, theirs: Path) -> bytes:
        """What is written in the next attempt, and is here by then: the rows of both, or ours as they are."""
        path = self._root / each.name
        if (joined := merged_rows(each.name, path, theirs)) is None:
            return content
        record_digests(self._layout, {each.name: hashlib.sha256(joined).hexdigest()})
        fresh = self._scratch()
        fresh.write_bytes(joined)
        fresh.chmod(self._layout.mode & 0o666)
        fresh.replace(path)
        return joined

    def _is_of_one_writer(self, each: SharedName) -> bool:
        """Whether two versions contradict each other: of a run, or of how far a monitor has read. The rows of other tables are
        replaced as a whole, whoever wrote the others."""
        if each.name.endswith(("/pruned", "/asked")):
            return False
        if each.table == "reports":  # of a run, not recomputed ones beside it
            return (self._root / "runs" / each.run_id).is_dir()
        return bool(each.run_id) or not each.table

    def _is_as_written(self, each: SharedName, digest: str) -> bool:
        """Whether landing wrote these bytes; of a file without a digest, nothing says otherwise."""
        if each.is_manifest:
            try:
                read_manifest((self._root / each.name).parent)
            except InputError:
                return False
        known = self._digests.get(each.name)
        return known is None or digest in known

    def _refuse(self, each: SharedName) -> None:
        self._aside(each)
        self.refused.files.append(each)

    def _aside(self, each: SharedName) -> None:
        """Where nothing reads it."""
        place = self.refused.aside / each.name
        make_folder(place.parent, self._layout.mode)
        (self._root / each.name).replace(place)
        self._index.files.pop(each.name, None)

    def _scratch(self) -> Path:
        make_folder(folder := self._root / FOLDER / "theirs", self._layout.mode)
        return folder / str(next(self._numbers))

    def _kept(self, files: list[SharedName]) -> str:
        verb, them = ("is", "it") if len(files) == 1 else ("are", "them")
        return (
            f"nothing is lost: {plural(len(files), 'file')} of {_about(files)} {verb} kept in {self._root}, and the next command "
            f"with this store publishes {them}"
        )


def _about(files: Collection[SharedName]) -> str:
    """Of which runs, or tables, they are, in a phrase."""
    if runs := sorted({each.run_id for each in files if each.run_id}):
        return f"run {runs[0]}" + (f" and {plural(len(runs) - 1, 'other run')}" if len(runs) > 1 else "")
    return ", ".join(sorted({each.table or each.name for each in files}))
