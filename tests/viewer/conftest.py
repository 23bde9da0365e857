"""A store with two runs of two skills, whose names and answers are hostile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import eval_skills as es
from eval_skills.core.store import Store

ATTACK = "</script><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7 * 7 }}\u202e"
TASKS: list[dict[str, Any]] = [{"id": f"{letter} {ATTACK}", "input": letter, "expected": letter.upper()} for letter in "abcd"]


def upper(text: str) -> str:
    return text.upper()


def partly(text: str) -> str:
    return ATTACK if text in "ab" else text.upper()


@pytest.fixture(scope="session")
def runs_of(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, list[str]]:
    """The store, and its two runs, the earlier one first."""
    folder = str(tmp_path_factory.mktemp("viewer") / "eval-store")
    found = [es.evaluate(skills=[upper, partly], tasks=TASKS, runs=runs, store=folder) for runs in (1, 2)]
    return Store(Path(folder)), [each.run_id for each in found]
