"""Runs of other versions: those of format 1 are read for ever, and what a newer version added is kept and told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import InputError, RunError
from eval_skills.core.store import Store, land, read_journal, read_manifest, write_manifest
from eval_skills.core.store.manifest import FORMAT
from eval_skills.core.store.newer import newer_remarks
from eval_skills.core.store.verify import verify
from eval_skills.engine.stored_runs.reports import recorded_request

FORMAT_1 = Path(__file__).parent / "format_1"
"""What release 0.1.0 wrote. Never change it: if it is not read any more, the code is wrong."""

RUN = "20261121T233824Z-3f9a"


@pytest.fixture
def run(store: Store) -> Path:
    """The folder of that run in a store of its own."""
    shutil.copytree(FORMAT_1, store.layout.root / "runs")
    return store.run_folder(RUN)


def add(file: Path, change: dict[str, Any]) -> None:
    """Write keys of a newer version into each line, or the one document, of a file."""
    lines = file.read_text().splitlines() if file.suffix == ".jsonl" else [file.read_text()]
    file.write_text("".join(json.dumps({**json.loads(line), **change}) + "\n" for line in lines))


def test_a_run_of_format_1_is_read(store: Store, run: Path) -> None:
    manifest = read_manifest(run)
    assert (manifest.format, manifest.planned_items, manifest.provenance) == (1, 4, {"of": "20261120T000000Z-0001"})
    assert (manifest.skills[0].adapter, manifest.benchmark.path) == ("subprocess", "benchmarks/sums.json")
    request = recorded_request(manifest)
    assert request is not None
    assert (request.runs, request.concurrency, request.skills) == (2, 4, ["skills/adder"])
    passed, failed = read_journal(run / "journal.jsonl")
    assert (passed.output, passed.score, passed.latency_ms) == ({"sum": [1, "é"]}, 1.0, 12.5)
    assert passed.tool_calls is not None
    assert (passed.tool_calls[0].arguments, passed.attempts[0].error_kind) == ({"a": 1}, "infra")
    assert (failed.status, failed.error_kind, failed.run_index, failed.score) == ("error", "infra", 1, None)
    assert newer_remarks(store, RUN) == []
    land(store, RUN)
    assert store.items()["task_id"].tolist() == ["t0", "t1"]


def test_a_manifest_without_a_format_is_of_format_1(run: Path) -> None:
    data = json.loads((run / "manifest.json").read_text())
    del data["format"]
    (run / "manifest.json").write_text(json.dumps(data))
    assert read_manifest(run).format == 1


def test_a_newer_manifest_keeps_its_keys_and_tells(store: Store, run: Path) -> None:
    data = json.loads((run / "manifest.json").read_text())
    added = {"format": FORMAT + 1, "colour": "red", "skills": [data["skills"][0] | {"licence": "MIT"}]}
    add(run / "manifest.json", added | {"request": data["request"] | {"mood": 1, "llm": {"tone": "dry"}}})
    manifest = read_manifest(run)
    write_manifest(run, manifest)
    assert json.loads((run / "manifest.json").read_text())["skills"][0]["licence"] == "MIT"
    assert newer_remarks(store, RUN) == [
        f"manifest.json of run {RUN} is of format 2 (this version knows 1) and has keys that a newer version may know: "
        "colour, skills[0].licence; it is kept as it is"
    ]
    request = recorded_request(manifest)
    assert request is not None
    assert request.runs == 2
    assert verify(store).newer == newer_remarks(store, RUN)


def test_a_newer_journal_lands_and_is_kept(store: Store, run: Path) -> None:
    journal = run / "journal.jsonl"
    add(journal, {"shade": 3, "reasons": [{"code": "EXACT", "message": "equal", "weight": 2}]})
    before = journal.read_bytes()
    assert [each.task_id for each in read_journal(journal)] == ["t0", "t1"]
    told = f"of run {RUN} has keys that a newer version may know: shade, reasons[0].weight; the tables leave that out, and"
    assert [remark[: len(told) + 14] for remark in newer_remarks(store, RUN)] == [f"journal.jsonl {told}"]
    land(store, RUN)
    assert store.items()["task_id"].tolist() == ["t0", "t1"]
    assert (run / "journal.newer-1.jsonl").read_bytes() == before
    assert store.unfinished() == []
    assert newer_remarks(store, RUN)[0].startswith(f"journal.newer-1.jsonl {told}")


def test_what_is_wrong_is_refused_as_ever(run: Path) -> None:
    add(run / "journal.jsonl", {"shade": 3, "score": "high"})
    with pytest.raises(RunError, match=r"line 1 is corrupt \(score: "):
        list(read_journal(run / "journal.jsonl"))
    add(run / "manifest.json", {"colour": "red", "skills": "adder"})
    with pytest.raises(InputError, match="skills: give a list"):
        read_manifest(run)
