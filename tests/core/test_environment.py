from __future__ import annotations

import os
import time
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as metadata_version
from pathlib import Path

import pytest

from eval_skills.core import environment as checks
from eval_skills.core.environment import Check, document
from eval_skills.core.redaction import Redaction


def named(found: list[Check], name: str) -> Check:
    return next(check for check in found if check.name == name)


def without(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    """Let one distribution look as if it were not installed."""
    real = metadata_version

    def version(name: str) -> str:
        if name == missing:
            raise PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(checks, "version", version)


def test_where_all_is_well_nothing_asks_for_anything() -> None:
    found = checks.environment_checks()
    assert not [check for check in found if check.status == "failed"]
    assert {"python", "platform", "requirements", "extra dask", "extra langsmith", "extra plot", "extra ray", "clock", "git"} <= {
        check.name for check in found
    }


@pytest.mark.parametrize(
    ("task_runner", "status", "found"),
    [
        pytest.param("local", "ok", "not installed; --task-runner dask needs it: pip install 'eval-skills[dask]'", id="optional"),
        pytest.param("dask", "failed", "prefect-dask is not installed; the configured task runner needs it", id="needed"),
        pytest.param("dask://host:1", "failed", "prefect-dask is not installed", id="needed-for-a-cluster"),
    ],
)
def test_an_extra_is_missed_where_it_is_needed(
    monkeypatch: pytest.MonkeyPatch, task_runner: str, status: str, found: str
) -> None:
    without(monkeypatch, "prefect-dask")
    check = named(checks.environment_checks(task_runner), "extra dask")
    assert check.status == status
    assert check.found.startswith(found)


def test_a_requirement_that_is_missing_or_of_another_version_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "requires", lambda _: ["duckdb>=999", "no-such-thing>=1", "matplotlib>=1; extra == 'plot'"])
    check = named(checks.environment_checks(), "requirements")
    assert check.status == "failed"
    assert "duckdb is " in check.found
    assert "and should be >=999; no-such-thing is not installed" in check.found
    assert "matplotlib" not in check.found


def test_without_git_there_is_a_warning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    check = named(checks.environment_checks(), "git")
    assert (check.status, check.found) == ("warning", "git is not on PATH")
    assert "backfill" in check.remedy


def test_a_clock_of_the_past_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 86_400.0 * 365)
    check = named(checks.environment_checks(), "clock")
    assert (check.status, check.found) == ("failed", "1971-01-01 00:00:00 UTC")


def test_a_file_system_with_a_clock_of_its_own_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert checks.file_clock_check("places", tmp_path / "missing").status == "ok"
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3600)
    check = checks.file_clock_check("places", tmp_path)
    assert check.status == "warning"
    assert "behind this machine's clock" in check.found
    assert os.listdir(tmp_path) == []


def test_a_full_disk_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert checks.space_check("places", tmp_path / "missing" / "store").found.endswith(f"free at {tmp_path}")
    monkeypatch.setattr(checks, "_SCARCE_BYTES", 10**18)
    assert checks.space_check("places", tmp_path).status == "warning"


def test_the_document_says_whether_all_is_well() -> None:
    fine, bad = Check("a", "x", "ok", "found"), Check("a", "y", "failed", "key s3cret-value", "mend it")
    assert document([fine])["healthy"] is True
    told = document([fine, bad.without_secrets(Redaction({"KEY": "s3cret-value"}))])
    assert told["healthy"] is False
    assert told["counts"] == {"ok": 1, "warning": 0, "failed": 1}
    assert told["checks"][1] == {
        "area": "a", "name": "y", "status": "failed", "found": "key [redacted:KEY]", "remedy": "mend it",
    }  # fmt: skip
