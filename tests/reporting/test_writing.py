"""Report files: one stem per run, whole or not at all, never over another run's."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting import ReportContext, formats, render, write_reports
from tests.tables import each_row

MakeReport = Callable[..., SkillCompletionReport]
STEM = "eval-result-2026-11-21T23-38-24-123Z"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_all_formats_share_one_stem(make_report: MakeReport, context: ReportContext, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "reports"
    paths = write_reports([make_report()], ["markdown", "json", "csv", "parquet", "json"], folder, context)
    assert [path.name for path in paths] == [f"{STEM}.{ending}" for ending in ("md", "json", "csv", "parquet")]
    assert names(folder) == sorted(path.name for path in paths)


@each_row("name", formats())
def test_p65_every_format_writes_what_it_renders(
    make_report: MakeReport, context: ReportContext, tmp_path: Path, name: str
) -> None:
    report = make_report(taskResults=[{"taskId": "t1", "runIndex": 0, "status": "pass", "passed": True}])
    (path,) = write_reports([report], [name], tmp_path, context)
    content = render(name, [report], context)
    assert path.read_bytes() == (content if isinstance(content, bytes) else content.encode())


def test_another_runs_files_are_never_overwritten(make_report: MakeReport, context: ReportContext, tmp_path: Path) -> None:
    first = write_reports([make_report("first")], ["json"], tmp_path, context)
    second = write_reports([make_report("second")], ["csv", "json"], tmp_path, context)
    third = write_reports([make_report("third")], ["csv"], tmp_path, context)
    assert [path.name for path in (*first, *second, *third)] == [
        f"{STEM}.json", f"{STEM}-2.csv", f"{STEM}-2.json", f"{STEM}-3.csv"
    ]  # fmt: skip
    assert b"first" in first[0].read_bytes()


def test_runs_that_end_at_once_keep_their_own_files(make_report: MakeReport, context: ReportContext, tmp_path: Path) -> None:
    def write(number: int) -> list[Path]:
        return write_reports([make_report(f"skill{number}")], ["json", "csv"], tmp_path, context)

    with ThreadPoolExecutor(8) as pool:
        written = list(pool.map(write, range(8)))
    assert len({path for paths in written for path in paths}) == 16
    for number, paths in enumerate(written):
        assert all(f"skill{number}".encode() in path.read_bytes() for path in paths)
        assert len({path.stem for path in paths}) == 1


def test_nothing_is_written_when_a_format_is_unknown(make_report: MakeReport, context: ReportContext, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown report format 'jsn'"):
        write_reports([make_report()], ["csv", "jsn"], tmp_path, context)
    assert names(tmp_path) == []


def test_p65_no_format_is_refused(make_report: MakeReport, context: ReportContext, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no report format is given; valid are json, markdown"):
        write_reports([make_report()], [], tmp_path, context)


def test_a_folder_that_is_a_file_is_refused(make_report: MakeReport, context: ReportContext, tmp_path: Path) -> None:
    (tmp_path / "reports").write_text("")
    with pytest.raises(UsageError, match="reports cannot be written here"):
        write_reports([make_report()], ["json"], tmp_path / "reports", context)


def test_a_file_that_cannot_take_its_place_leaves_nothing_behind(
    make_report: MakeReport, context: ReportContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UsageError, match="No space left on device"):
        write_reports([make_report()], ["json"], tmp_path, context)
    assert names(tmp_path) == []


def test_the_stem_is_in_utc(context: ReportContext) -> None:
    east = timezone(timedelta(hours=5, minutes=30))
    assert (
        replace(context, created_at=datetime(2026, 11, 22, 5, 8, 24, tzinfo=east)).stem == "eval-result-2026-11-21T23-38-24-000Z"
    )


def test_a_time_without_a_zone_is_refused(context: ReportContext) -> None:
    with pytest.raises(ValueError, match="has no time zone"):
        replace(context, created_at=datetime(2026, 11, 21))
