"""The folder of a worker's runs comes from its environment, or the run ends before it begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.flows.skills_folder import enter_skills_folder


def test_the_folder_is_the_one_that_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SKILLS_FOLDER", str(tmp_path))
    assert enter_skills_folder() == {"directory": str(tmp_path.resolve())}


@pytest.mark.parametrize("value", [None, "", " ", "no/such/folder"], ids=["unset", "empty", "blank", "missing"])
def test_without_a_folder_nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str | None) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SKILLS_FOLDER", raising=False)
    if value is not None:
        monkeypatch.setenv("SKILLS_FOLDER", value)
    with pytest.raises(UsageError, match="SKILLS_FOLDER"):
        enter_skills_folder()
