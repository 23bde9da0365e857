"""The viewer's pages: their names, the same in the addresses of the server and in the files of an export; and links to them.

All lie beside each other, so that a link from one to another is its name. What people named (tasks, skills) stands as a digest:
whatever marks it holds, the name is one of a file.
"""

from __future__ import annotations

import hashlib
import os
import re
from urllib.parse import urlsplit

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


BASE_URL = "EVAL_SKILLS_VIEW__BASE_URL"
"""The variable of the key ``view.baseUrl``; what runs in a process of its own finds the address there."""


def checked_base_url(text: str) -> str:
    """The address below which a viewer's pages are, ended by a slash.

    Raises:
        UsageError: it is not one of HTTP: a scheme, a host, maybe a port and a path, and nothing else.
    """
    try:
        parts = urlsplit(text)
        named = parts.hostname if parts.port != 0 else None
    except ValueError:  # a port that is not a number, or half an IPv6 address
        named = None
    is_plain = _ADDRESS.fullmatch(text) is not None and named
    if not is_plain:
        raise UsageError(f"{text!r} is not the address of a viewer; give one such as https://evals.example.com")
    return text if text.endswith("/") else f"{text}/"


_ADDRESS = re.compile(r"https?://[A-Za-z0-9.\[\]:-]+(/[A-Za-z0-9._~%/-]*)?")
"""Without a user, a password, a query, or anything that would end a link in Markdown."""


def link_to(page: str) -> str | None:
    """The address of a page of the viewer that `BASE_URL` names; None where there is none.

    Raises:
        UsageError: what it holds is not an address.
    """
    base = os.environ.get(BASE_URL)
    return checked_base_url(base) + page if base else None
