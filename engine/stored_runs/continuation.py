"""What finishes a run of a store that did not end, or its night: for the list of runs, and for the page of one."""

from __future__ import annotations

from shlex import quote

from eval_skills.core.store import Store
from eval_skills.core.store.files import is_locked
from eval_skills.core.store.missing import is_night_recorded
from eval_skills.reporting.stopping import NOT_CONTINUED, asked_by, replay_words, resume_night_words, resume_words

_CALLED_AGAIN = ("rescore", "replay")
"""Origins of runs that no `--resume` goes on with: the same call does, whose options the run does not have."""


def continued_by(store: Store, run_id: str, *, is_unfinished: bool) -> str | None:
    """The command that finishes an unfinished run, or the night of a run that has not ended; None of what is finished, of what
    cannot be continued, and of what another process works at.
    """
    manifest = store.find_manifest(run_id)
    if manifest is None or manifest.is_of_a_program or manifest.origin in _CALLED_AGAIN:
        return None
    if worked_at(store, run_id, is_unfinished=is_unfinished) is not None:
        return None
    night = manifest.provenance.get("night")
    if night is not None and not is_night_recorded(store, night):  # one that is recorded does not go on
        return resume_night_words(night, manifest.provenance.get("suites"), store.path)
    if not is_unfinished:
        return None
    stopped = None if manifest.stopped is None else manifest.stopped.name
    return resume_words(run_id, store.path, stopped, asked_by(manifest.provenance))


def worked_at(store: Store, run_id: str, *, is_unfinished: bool) -> str | None:
    """The run, or its night, where a process of this machine works at it just now: nobody else can go on with it."""
    manifest = store.find_manifest(run_id)
    night = None if manifest is None else manifest.provenance.get("night")
    if night is not None and is_locked(store.layout.root / f"night-{night}"):
        return f"night {night}"
    return f"run {run_id}" if is_unfinished and is_locked(store.journal_path(run_id)) else None


def why_not_continued(store: Store, run_id: str) -> str:
    """Why an unfinished run has no command that finishes it."""
    manifest = store.find_manifest(run_id)
    if manifest is None:
        return "cannot be continued, for its manifest is missing: evaluate again"
    if manifest.origin == "rescore":
        again = f"eval-skills rescore {manifest.provenance.get('of')} --store {quote(store.path)}"
        return f"is a scoring that did not land: call {again} again, with the options that it had"
    if manifest.origin == "replay":
        return replay_words(manifest.provenance)
    return NOT_CONTINUED
