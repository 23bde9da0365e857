"""When nobody says anything, and so nobody need be asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_skills.core.config import is_silent


def silent(folder: Path, **said: object) -> bool:
    given: dict[str, object] = {"environ": {"PATH": "/bin"}, "cwd": folder / "work", "home": folder / "home", **said}
    return is_silent(**given)  # type: ignore[arg-type] # each of its own type


@pytest.mark.parametrize(
    "name",
    [
        "work/eval-skills.config.yaml",
        "home/.eval-skills/config.yaml",
        "work/eval-skills.config.yml",
        "home/.eval-skills/config.yml",
    ],
)
def test_a_file_speaks_even_if_it_is_a_link_to_nothing(tmp_path: Path, name: str) -> None:
    assert silent(tmp_path)
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).symlink_to(tmp_path / "nowhere")
    assert not silent(tmp_path)


def test_a_file_that_is_named_speaks_whether_it_is_there_or_not(tmp_path: Path) -> None:
    assert not silent(tmp_path, config_path=Path("other.yaml"))


@pytest.mark.parametrize("name", ["EVAL_SKILLS_RUNS", "EVAL_SKILLS_TYPO"])
def test_a_variable_speaks_whether_it_is_known_or_not(tmp_path: Path, name: str) -> None:
    assert not silent(tmp_path, environ={name: "1"})
