"""The scorings of a run's answers: `rescore` lands each beside the run, and the one that was asked for last counts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from eval_skills.core.errors import InputError
from eval_skills.core.store.files import write_whole
from eval_skills.core.store.layout import started_at

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from eval_skills.core.store.manifest import Manifest
    from eval_skills.core.store.store import Store

ASKED = "asked"
"""The file in a scoring's folder that says when it was asked for again, as it had landed and another one counted."""


def note_asked(store: Store, run_id: str) -> None:
    """Write down that this scoring is asked for now: it counts from now on."""
    content = f"{datetime.now(UTC).isoformat()}\n".encode()
    write_whole(store.run_folder(run_id) / ASKED, content, mode=store.layout.mode)


def asked_at(folder: Path) -> datetime | None:
    """When the scoring in this run folder was asked for again, last; None where it never was.

    Raises:
        InputError: the note of it cannot be read.
    """
    path = folder / ASKED
    try:
        moment = datetime.fromisoformat(path.read_text(encoding="utf-8").strip())
        if moment.tzinfo is None:
            raise ValueError(f"{moment.isoformat()} has no time zone")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"not a moment ({error}); repeat the rescoring that should count", source=path) from None
    return moment


def last_asked(store: Store, manifest: Manifest) -> datetime:
    """When the run of this manifest was made, or asked for again. A note that cannot be read is named (`Tables.tell`)."""
    folder = store.run_folder(manifest.run_id)
    try:
        again = asked_at(folder)
    except InputError as error:
        store.tables.name_damaged(str(folder / ASKED), error)
        again = None
    return manifest.created_at if again is None else max(manifest.created_at, again)


def chains(store: Store, run_ids: Iterable[str]) -> dict[str, list[Manifest]]:
    """The scorings among these runs by the run whose answers they judge, in the order in which they were asked for last.

    A scoring of a scoring judges the answers of the same run. One whose manifest cannot be read or does not name its run is in
    none.
    """
    manifests = [manifest for run_id in run_ids if (manifest := store.find_manifest(run_id)) and manifest.origin == "rescore"]
    found: dict[str, list[Manifest]] = {}
    for manifest in sorted(manifests, key=lambda manifest: (last_asked(store, manifest), manifest.run_id)):
        if of := _answered_by(store, manifest):
            found.setdefault(of, []).append(manifest)
    return found


def _answered_by(store: Store, scoring: Manifest) -> str | None:
    """The run that asked for the answers which this scoring judges, itself or by way of other scorings."""
    of = None
    known: Manifest | None = scoring
    passed: set[str] = set()
    while known and known.origin == "rescore" and known.run_id not in passed and (named := known.provenance.get("of")):
        passed.add(known.run_id)
        of = str(named)
        known = store.find_manifest(of)
    return of


def counts(store: Store, run_id: str) -> bool:
    """Whether of all scorings of the same answers this landed one was asked for last."""
    landed, moment = store.tables.files("items"), started_at(run_id)
    scorings = chains(store, [each for each in landed if started_at(each) == moment])  # a scoring is dated like its run
    return any(chain[-1].run_id == run_id for chain in scorings.values())


def replaced_digests(store: Store) -> set[str]:
    """The digests (`provenance`) of landed scorings that count no more, since others of the same answers were asked for later."""
    landed = store.tables.files("items")
    scored = chains(store, [run_id for run_id in store.rescorings() if run_id in landed]).values()
    return {str(each.provenance.get("digest")) for chain in scored for each in chain[:-1]} - {
        str(chain[-1].provenance.get("digest")) for chain in scored
    }
