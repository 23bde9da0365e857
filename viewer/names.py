"""The names of the viewer's pages: the same in the addresses of the server and in the files of an export.

All lie beside each other, so that a link from one to another is its name. What people named (tasks, skills) stands as a digest:
whatever marks it holds, the name is one of a file.
"""

from __future__ import annotations

import hashlib

from eval_skills.core.errors import UsageError

RUNS = "index.html"
RUN_ID = r"[0-9]{8}T[0-9]{6}Z-[0-9a-f]{4}"
KEY_LENGTH = 16
KEY = rf"[0-9a-f]{{{KEY_LENGTH}}}"


class NoSuchPageError(UsageError):
    """No page has that name, or the store does not hold what it would show."""


def key_of(*parts: str | int) -> str:
    """Sixteen hexadecimal digits that stand for these names, in this order."""
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).hexdigest()[:KEY_LENGTH]


def run_page(run_id: str) -> str:
    """The page of a run."""
    return f"run-{run_id}.html"


def task_page(run_id: str, benchmark_id: str, task_id: str) -> str:
    """The page of one task of a run: the answers of all skills to it."""
    return f"task-{run_id}-{key_of(benchmark_id, task_id)}.html"


def item_page(run_id: str, benchmark_id: str, task_id: str, skill: str, run_index: int) -> str:
    """The page of one item: what one skill (``id@version``) did in one run (counted from 0) of a task."""
    return f"item-{run_id}-{key_of(benchmark_id, task_id, skill, run_index)}.html"


def comparison_page(before: str, after: str) -> str:
    """The page that compares two runs, the earlier one first."""
    return f"compare-{before}-{after}.html"


def labels_file(run_id: str) -> str:
    """The file of the labels of a run, for ``judge calibrate``."""
    return f"labels-{run_id}.csv"


def effect_page(run_id: str) -> str:
    """The page of what an Agent Skill changed."""
    return f"effect-{run_id}.html"


def triggers_page(run_id: str) -> str:
    """The page of whether an Agent Skill was loaded when it should."""
    return f"triggers-{run_id}.html"


def skill_page(skill_id: str) -> str:
    """The page of a skill, with all its versions."""
    return f"skill-{key_of(skill_id)}.html"
