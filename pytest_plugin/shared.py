"""One evaluation for all processes of a test session: pytest-xdist's workers would each make their own."""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from eval_skills.core.store.files import write_whole
from eval_skills.pytest_plugin.evaluation import as_skill_report

if TYPE_CHECKING:
    import pytest

    from eval_skills.pytest_plugin.outcomes import SkillReport


def evaluated_once(
    config: pytest.Config, folders: pytest.TempPathFactory, key: str, evaluate: Callable[[], SkillReport]
) -> SkillReport:
    """The report that `evaluate` makes, or that another worker of this session made of the same `key` before; while that one
    is running, this one waits.
    """
    if not hasattr(config, "workerinput"):
        return evaluate()
    from eval_skills.reporting import read_reports

    file = _common_folder(folders) / f"eval-skills-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            write_whole(file, json.dumps([evaluate().to_json()]).encode("ascii"))
        [report] = read_reports(file)
    return as_skill_report(report)


def _common_folder(folders: pytest.TempPathFactory) -> Path:
    """The session's folder, of which each worker's is a part."""
    return folders.getbasetemp().parent
