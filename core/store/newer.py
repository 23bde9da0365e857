"""What a newer version wrote into a run's folder that this one does not know: it is kept, and told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eval_skills.core.store.journal import complete_lines, read_line
from eval_skills.core.store.landing import NEWER
from eval_skills.core.store.manifest import FILE_NAME, FORMAT, Manifest

if TYPE_CHECKING:
    from pathlib import Path

    from eval_skills.core.store.store import Store

_SHOWN = 5


def newer_remarks(store: Store, run_id: str) -> list[str]:
    """A sentence for each file of the run that holds more than this version knows; none for the files of this or older ones.

    Raises:
        RunError: a line of the journal is not a result.
    """
    manifest = store.find_manifest(run_id)
    remarks = [] if manifest is None else in_manifest(manifest)
    return remarks + [remark for journal in journals(store, run_id) for remark in in_journal(journal)]


def journals(store: Store, run_id: str) -> list[Path]:
    """The journal of a run, whether it exists or not, and those that were kept for a newer version."""
    return [store.journal_path(run_id), *sorted(store.run_folder(run_id).glob(NEWER))]


def in_manifest(manifest: Manifest) -> list[str]:
    """The sentence for a manifest, if there is one to say."""
    newer = f"is of format {manifest.format} (this version knows {FORMAT})" if manifest.format > FORMAT else ""
    said = " and ".join(filter(None, [newer, _has(manifest.unknown_keys)]))
    return [f"{FILE_NAME} of run {manifest.run_id} {said}; it is kept as it is"] if said else []


def in_journal(journal: Path) -> list[str]:
    """The sentence for a journal, of which every line is read.

    Raises:
        RunError: a line is not a result.
    """
    lines = (read_line(line, source=journal, number=number) for number, line in complete_lines(journal))
    said = _has(list(dict.fromkeys(key for _, keys in lines for key in keys)))
    run_id = journal.parent.name
    return [f"{journal.name} of run {run_id} {said}; the tables leave that out, and the journal is kept"] if said else []


def _has(keys: list[str]) -> str:
    more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
    return f"has keys that a newer version may know: {', '.join(keys[:_SHOWN])}{more}" if keys else ""
