"""What changed from run to run, by what the manifests of the runs say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from eval_skills.core.attribution import Change, changes, fingerprints
from eval_skills.core.store.store import is_of_the_course

if TYPE_CHECKING:
    from collections.abc import Callable

    from eval_skills.core.store import Manifest, PastRun, Store


@dataclass(frozen=True, slots=True)
class RunChanges:
    """What differs from the run `since`; each with the id of the skill that it is about, None if it is about all."""

    since: str
    found: list[tuple[str | None, Change]]

    @property
    def kinds(self) -> list[str]:
        """The kinds of what differs, each once."""
        return list(dict.fromkeys(change.kind for _, change in self.found))


def run_changes(store: Store, runs: Sequence[PastRun]) -> dict[str, RunChanges]:
    """For each of the runs, what changed since the one before it that asked the same benchmark of one of its skills.

    A run is missing where there is none before it, or its own manifest cannot be read. Skills are compared by id: of several
    versions in one run the last named one counts.
    """
    manifest = cache(store.find_manifest)
    run_ids = store.run_ids()
    found: dict[str, RunChanges] = {}
    for run in runs:
        after = manifest(run.run_id)
        before = after and _before(after, run_ids[: run_ids.index(run.run_id)], manifest)
        if after and before:
            found[run.run_id] = RunChanges(before.run_id, list(_run_changes(before, after)))
    return found


def _before(after: Manifest, earlier: Sequence[str], manifest: Callable[[str], Manifest | None]) -> Manifest | None:
    candidates = (manifest(run_id) for run_id in reversed(earlier))
    return next((each for each in candidates if each and _is_comparable(each, after)), None)


def _is_comparable(before: Manifest, after: Manifest) -> bool:
    same = before.benchmark.id == after.benchmark.id and not _keys(before).keys().isdisjoint(_keys(after))
    return same and is_of_the_course(before.origin)


def _keys(manifest: Manifest) -> dict[str, str]:
    return {skill.key.partition("@")[0]: skill.key for skill in manifest.skills}


def _run_changes(before: Manifest, after: Manifest) -> Iterator[tuple[str | None, Change]]:
    old, new = _keys(before), _keys(after)
    shared = [skill for skill in new if skill in old]
    for number, skill in enumerate(shared):
        for change in changes(fingerprints(before, old[skill]), fingerprints(after, new[skill])):
            if change.kind in ("skill", "adapter"):
                yield skill, change
            elif number == len(shared) - 1:  # what is not about a skill is the same for all of them
                yield None, change
