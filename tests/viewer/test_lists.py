"""The lists that are tables of the store: what a row shows."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from eval_skills.core.store import Store
from eval_skills.core.store.landing import land_rows
from eval_skills.viewer.server import application


@pytest.mark.slow
def test_a_calibration_shows_how_many_labels_the_judge_did_not_judge(tmp_path: Path) -> None:
    store, moment = Store(tmp_path / "eval-store"), datetime(2026, 11, 29, tzinfo=UTC)
    row = {"calibration_id": "c", "calibrated_at": moment, "model": "openai/m", "prompt": "p", "benchmark_id": "sums"}
    land_rows(store, "calibrations", "20261129T000000Z-0001", [row | {"labels": 4321, "unjudged": 1234}])
    page = TestClient(application(store, labelled_by="ann"), base_url="http://127.0.0.1:8000").get("/calibrations.html").text
    assert page.index("4321") < page.index("1234")
    assert "Not judged" in page
