"""The same skills through the command line, in a folder of an odd name, with every report: nothing of them is left at the end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval_skills.core.store import Store
from tests.end_to_end.faults.conftest import PATIENCE_S, Workplace, none_within, processes_with
from tests.end_to_end.faults.hostile import ODD_FOLDER, write_all
from tests.warm_command import WarmCommand

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

FORMATS = ("json", "markdown", "html", "csv", "junit", "parquet")
TASKS = [
    {"id": "attack", "inputData": {"do": "attack"}, "expectedOutput": {"value": "ok"}, "timeoutMs": 10_000},
    {"id": "behave", "inputData": {"do": "behave"}, "expectedOutput": {"value": "ok"}, "timeoutMs": 120_000},
]


def test_p25_every_item_of_a_hostile_run_has_its_verdict(
    tmp_path: Path, server_environment: dict[str, str], warm_command: WarmCommand
) -> None:
    folder = tmp_path / ODD_FOLDER
    folder.mkdir()
    place = Workplace(folder, server_environment, warm_command)
    hostile = write_all(folder / "skills", place.mark, tmp_path / "notes")
    (folder / "tasks.json").write_text(json.dumps(TASKS))
    try:
        process = place.evaluate("--retries", "1", "--format", *FORMATS, "--concurrency", "4")
        assert process.end() == 0, process.err
    finally:
        place.stop_everything()
    items = Store(folder / "store").items().set_index(["skill_id", "task_id"]).sort_index()
    assert len(items) == 2 * len(hostile)
    kinds = items["error_kind"].fillna("")
    found = {each.id: (items["status"][each.id, "attack"], kinds[each.id, "attack"]) for each in hostile}
    assert found == {each.id: (each.status, each.kind or "") for each in hostile}
    assert set(items["status"].xs("behave", level="task_id")) == {"pass"}
    assert len(place.reports()) == len(FORMATS)
    assert place.has_no_journal()
    assert none_within(PATIENCE_S, lambda: processes_with(place.mark))
    assert list(tmp_path.rglob("owned")) == []
