"""One evaluation for all cases and processes of a test session: pytest-xdist's workers would each make their own."""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from eval_skills.core.errors import RunError
from eval_skills.core.store.files import write_whole

if TYPE_CHECKING:
    import pytest

    from eval_skills.pytest_plugin.outcomes import SkillReport


def evaluated_once(
    item: pytest.Item, folders: pytest.TempPathFactory, key: str, evaluate: Callable[[], SkillReport]
) -> SkillReport:
    """The report that `evaluate` makes for `item`, or that another worker of this session made of the same `key` before; while
    that one is running, this one waits. An evaluation that raised is not made again: what it asked, it has spent.

    Raises:
        RunError: it ended with an error before, for another case, which shows it. Else what `evaluate` raises.
    """
    is_worker = hasattr(item.config, "workerinput")
    folder = folders.getbasetemp().parent if is_worker else folders.getbasetemp()
    file = folder / f"eval-skills-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_worker and file.exists():
            return _read(file)
        report = _evaluated(item.nodeid, file.with_suffix(".failed"), evaluate)
        if is_worker:
            write_whole(file, json.dumps(report.to_json()).encode("ascii"))
    return _read(file) if is_worker else report


def _evaluated(case: str, failed: Path, evaluate: Callable[[], SkillReport]) -> SkillReport:
    """What `evaluate` returns; where it raises, the file `failed` names the case that shows it to all others."""
    if failed.exists():
        raise RunError(f"not evaluated: the evaluation ended with an error, which {failed.read_text('utf-8')} shows")
    try:
        return evaluate()
    except BaseException:
        write_whole(failed, case.encode("utf-8", "backslashreplace"))
        raise


def _read(file: Path) -> SkillReport:
    from eval_skills.pytest_plugin.outcomes import SkillReport

    return SkillReport.model_validate_json(file.read_bytes())  # of any size, unlike a document that somebody wrote
