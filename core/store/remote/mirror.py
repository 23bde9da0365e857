"""The mirror of a bucket: what is new there is pulled, and what landed here is published.

Nothing says what is to be published but the files themselves: a shared file that is not as the index knows it was written here.
So whatever stops a process, the next one that opens the store goes on. One process of a machine pulls or publishes at a time.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING

from eval_skills.core.errors import EvalSkillsError, RunError
from eval_skills.core.store.digests import record_digests
from eval_skills.core.store.files import explained, make_folder
from eval_skills.core.store.remote.bucket import Bucket, FetchedObject, ListedObject
from eval_skills.core.store.remote.index import FOLDER, Index
from eval_skills.core.store.remote.names import shared_files, shared_name
from eval_skills.core.store.remote.publishing import PARALLEL, PUBLISHING_S, Publication, Refused

if TYPE_CHECKING:
    from eval_skills.core.store.layout import Layout
    from eval_skills.core.store.remote.address import Address

OPEN_S = 3.0
"""For so long after a pull, the same process does not ask again: a command opens its store several times."""

_AT_ONCE = 256
"""Files that are fetched before what was fetched is noted."""

_States = dict[str, os.stat_result]


class Mirror:
    """The local folder of a store in object storage.

    Every call raises `UserError` where the bucket is missing or the credentials are refused, and `RunError` where the service
    cannot be reached or the folder cannot be written.
    """

    def __init__(self, layout: Layout, address: Address) -> None:
        self._layout, self._address, self._root = layout, address, layout.root
        self._bucket: Bucket | None = None
        self._pulled_at = -OPEN_S
        self._turn = threading.Lock()

    def open(self) -> list[str]:
        """Pull what is new, unless that was done just now, and publish what is left from before; returns remarks on that."""
        if monotonic() - self._pulled_at < OPEN_S:
            return []
        with self._locked() as index:
            here = self._pull(index)
            try:
                refused = self._publish(index, here)
            except EvalSkillsError as error:
                return [str(error)]
            return [str(refused)] if refused.files else []

    def publish(self) -> EvalSkillsError | None:
        """Write to the bucket whatever of this store landed here and is not there yet; returns why some of it is not there now.

        Raises:
            RunError: another machine wrote the same; nothing is overwritten there, nor lost here.
        """
        with self._locked() as index:
            try:
                refused = self._publish(index, shared_files(self._root))
            except EvalSkillsError as error:
                return error
            if refused.files:
                raise RunError(str(refused))
        return None

    def remove(self, names: Iterable[str]) -> None:
        """Remove files, in the bucket first: a process that is stopped in between leaves what the next pull removes."""
        with self._locked() as index:
            for name in names:
                self._connected().delete(name)
                (self._root / name).unlink(missing_ok=True)
                index.files.pop(name, None)

    def restore(self, name: str) -> bool:
        """Bring the object of a file here once more; False of a file that is not published."""
        with self._locked() as index:
            if name not in index.files:
                return False
            self._fetch([name], index, {})
            return True

    @property
    def is_empty(self) -> bool:
        """Whether neither the bucket nor this folder has anything of a store, as of the last pull."""
        return not shared_files(self._root) and not (self._root / "runs").is_dir()

    def _connected(self) -> Bucket:
        self._bucket = self._bucket or Bucket(self._address)
        return self._bucket

    @contextmanager
    def _locked(self) -> Iterator[Index]:
        """The index, for the one process that may change the mirror; saved at the end, also of a call that failed."""
        with self._turn, explained(self._root):
            make_folder(folder := self._root / FOLDER, self._layout.mode)
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                index = Index.of(self._root)
                try:
                    yield index
                finally:
                    index.save()
            finally:
                os.close(lock)

    def _pull(self, index: Index) -> _States:
        """Bring what is new in the bucket here; returns the shared files that are here then."""
        listed = self._visible(self._connected().listed(), index)
        here = shared_files(self._root)
        for name in [name for name in index.files if name not in listed]:
            if index.files.pop(name).is_like(here.get(name)):
                self._forget(name)
                del here[name]
        wanted = [name for name, found in listed.items() if self._is_wanted(name, found, index, here)]
        for start in range(0, len(wanted), _AT_ONCE):
            self._fetch(wanted[start : start + _AT_ONCE], index, here)
        self._pulled_at = monotonic()
        return here

    def _forget(self, name: str) -> None:
        """Remove a file that is gone in the bucket, and the folder of its run with the last one."""
        path = self._root / name
        path.unlink(missing_ok=True)
        with suppress(OSError):  # it is not empty
            path.parent.rmdir()

    @staticmethod
    def _is_wanted(name: str, found: ListedObject, index: Index, here: _States) -> bool:
        """Whether to fetch it: a file that was changed here stays, until it is published or refused."""
        known = index.files.get(name)
        if known is None or name not in here:
            return name not in here
        return known.tag != found.tag and known.is_like(here[name])

    @staticmethod
    def _visible(listed: dict[str, ListedObject], index: Index) -> dict[str, ListedObject]:
        """The shared files of the bucket in the order in which they appear, without runs that are just being published."""
        shared = [each for name in listed if (each := shared_name(name)) is not None]
        records = {each.run_id for each in shared if each.is_manifest}
        now = datetime.now(UTC)
        partial = {
            each.run_id
            for each in shared
            if each.table == "items" and each.run_id not in records and each.name not in index.files
            if (now - listed[each.name].written).total_seconds() < PUBLISHING_S
        }
        shared.sort(key=lambda each: (each.rank, each.name))
        return {each.name: listed[each.name] for each in shared if not (each.run_id and each.run_id in partial)}

    def _fetch(self, names: list[str], index: Index, here: _States) -> None:
        """Bring these objects here: each is read whole before it has its name, and its digest is written down before that."""
        folder = self._root / FOLDER / "fetched"
        shutil.rmtree(folder, ignore_errors=True)  # of a process that was stopped
        make_folder(folder, self._layout.mode)
        bucket, files = self._connected(), {name: folder / str(number) for number, name in enumerate(names)}

        def fetch(name: str) -> FetchedObject | None:
            return bucket.fetch(name, files[name])

        with ThreadPoolExecutor(PARALLEL) as readers:
            fetched = dict(zip(names, readers.map(fetch, names), strict=True))
        there = {name: found for name, found in fetched.items() if found is not None}
        record_digests(self._layout, {name: found.expected for name, found in there.items() if name.endswith(".parquet")})
        for name, found in there.items():
            target = self._root / name
            make_folder(target.parent, self._layout.mode)
            files[name].chmod(self._layout.mode & 0o666)
            files[name].replace(target)
            here[name] = target.stat()
            index.note(name, found.tag, here[name], found.digest)
        index.save()

    def _publish(self, index: Index, here: _States) -> Refused:
        publication = Publication(self._layout, self._address.url, self._connected(), index, here)
        try:
            publication.run()
        finally:
            if again := [*publication.lost, *(each.name for each in publication.refused.files)]:
                self._fetch(again, index, here)
        return publication.refused


_mirrors: dict[str, Mirror] = {}
_making = threading.Lock()


def mirror_of(layout: Layout) -> Mirror | None:
    """The mirror behind a layout, one for this process and these credentials; None of a local store."""
    if layout.address is None:
        return None
    given = sorted(each for each in os.environ.items() if each[0].startswith(("AWS_", "GOOGLE_", "AZURE_")))
    key = hashlib.sha256(f"{layout.root} {given}".encode()).hexdigest()
    with _making:
        return _mirrors.setdefault(key, Mirror(layout, layout.address))
