"""Putting a store in order: damaged files aside, reports made anew from their items, leftovers removed."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from eval_skills.core.errors import EvalSkillsError
from eval_skills.core.store import Store, land_reports
from eval_skills.core.store.digests import digest_of_file, record_digest, recorded_digests
from eval_skills.core.store.files import RunLock, make_folder, replace_durably, write_whole
from eval_skills.core.store.journal import complete_lines, result_of
from eval_skills.core.store.verify import Finding, Verified, free_name, put_aside, verify
from eval_skills.core.text import plural


def repair(store: Store) -> Verified:
    """What `verify` finds, each with what was done about it.

    A damaged file, journal or manifest keeps its content under another name, which nothing reads. Reports that are missing or
    damaged are computed anew from their items, as `report show` does. What nobody writes any more is removed. A file
    without a digest that reads well gets one, so that later damage is seen.

    Raises:
        RunError: the list of digests cannot be read.
    """
    found = verify(store)
    findings = [replace(each, repaired=_repaired(store, each)) for each in found.findings]
    for location in found.undigested:
        path = store.tables.path_of(location)
        record_digest(store.layout, store.tables.relative(path), digest_of_file(path))
    return replace(found, findings=findings)


def _repaired(store: Store, finding: Finding) -> str:
    """What was done; a failure is said in its place, and the rest goes on."""
    try:
        if finding.kind == "leftover":
            return _without_leftover(store, finding)
        if finding.kind == "without-reports":
            return _report(store, finding.run_id)
        if finding.kind == "earlier" and finding.table == "reports" and finding.run_id in store.tables.files("items"):
            return _report(store, finding.run_id)
        if finding.kind == "unreadable":
            return "not repaired: let this user read it (chmod), or see to its disk; what it holds may be well"
        if finding.kind in ("missing", "earlier"):
            return "not repaired: nothing else in the store holds it"
        if finding.kind == "misplaced" and (place := _landing_place(store, finding)) is not None:
            make_folder(place.parent, store.layout.mode)
            replace_durably(Path(store.tables.path_of(finding.path)), place)
            return f"moved to {place}, where it landed"
        if finding.kind == "journal" and finding.path == str(store.journal_path(finding.run_id)):
            return _journal(store, finding)
        return put_aside(store, finding)
    except (EvalSkillsError, OSError) as error:
        return f"not repaired: {' '.join(str(error).split())}"


def _landing_place(store: Store, finding: Finding) -> Path | None:
    """Where a misplaced file has landed with just these bytes; None where nothing says so, or something is there."""
    path = Path(store.tables.path_of(finding.path))
    digest = digest_of_file(path)
    landed = [
        store.layout.root / relative
        for relative, digests in recorded_digests(store.layout).items()
        if digest in digests and relative.startswith(f"{finding.table}/") and relative.endswith(f"/{path.name}")
    ]
    return next((place for place in landed if not place.exists()), None)


def _without_leftover(store: Store, finding: Finding) -> str:
    """A run may have been taken up since: what is in use by then stays, and who removes it holds the run's lock meanwhile."""
    path = Path(finding.path)
    locked = store.journal_path(finding.run_id) if finding.run_id else path if path.suffix == ".lock" else None
    with nullcontext() if locked is None else RunLock(locked, what=None if finding.run_id else path.stem):
        if path.suffix != ".lock":  # the lock is removed as it is released
            path.unlink(missing_ok=True)
            _note_as_last(store, path)
    return "removed"


def _note_as_last(store: Store, scratch: Path) -> None:
    """Who wrote a scratch file may have written down its digest before being stopped: what has landed is the last again."""
    parts = scratch.name.removesuffix(".tmp").split(".")
    parts = parts[:-1] if parts[-1].isdigit() else parts  # the id of its writer
    if parts[-1] != "parquet":
        return
    landed = scratch.with_name(".".join(parts[-2:]))
    relative = store.tables.relative(str(landed))
    if landed.is_file() and (digest := digest_of_file(landed)) in recorded_digests(store.layout).get(relative, []):
        record_digest(store.layout, relative, digest)  # what is damaged stays so


def _journal(store: Store, finding: Finding) -> str:
    """The journal as it was is put aside; every line of it that can be read is kept for a resume."""
    journal, kept, lost = store.journal_path(finding.run_id), [], 0
    with RunLock(journal):
        for number, line in complete_lines(journal):
            try:
                result_of(line, source=journal, number=number)
            except EvalSkillsError:
                lost += 1
            else:
                kept.append(line)
        aside = free_name(journal)
        write_whole(aside, journal.read_bytes(), mode=store.layout.mode)  # first: at no moment is there neither of the two
        write_whole(journal, b"".join(kept), mode=store.layout.mode)
    return f"now {aside.name}; {plural(len(kept), 'item')} kept for --resume, {plural(lost, 'line')} left out"


def _report(store: Store, run_id: str) -> str:
    from eval_skills.engine.skill_effect.experiment import effect_of_run
    from eval_skills.engine.stored_runs.reports import reports_from_items

    landed = store.tables.dataset("items", [run_id]).to_table()
    if not landed.num_rows:
        return "not repaired: it holds no items"
    reports = reports_from_items(store, run_id, landed).reports
    origin, version = _of_items(store, run_id)  # each item says it, too: the manifest may be gone
    manifest = store.find_manifest(run_id)
    effect = effect_of_run(manifest, reports) if manifest is not None and manifest.has_arms else None
    land_reports(store, run_id, None, reports, benchmark_version=version, origin=origin, effect=effect)
    store.publish()
    return "reports made anew from the items"


def _of_items(store: Store, run_id: str) -> tuple[str, str]:
    """The origin of a run and the version of its benchmark."""
    item = store.tables.rows("items", ["origin", "benchmark_version"], [run_id])[0]
    return str(item["origin"] or "run"), str(item["benchmark_version"])
