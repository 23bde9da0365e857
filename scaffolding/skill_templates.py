"""Skills to start from: a folder of templates each, which render to a skill that passes its own tests."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval_skills.core.errors import UsageError
from eval_skills.core.text import nearest
from eval_skills.scaffolding.draft import Draft, checked_skill

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from eval_skills.scaffolding.names import SkillName

TEMPLATES = ("http_request", "python_script", "mcp_tool", "langchain", "custom")
"""What ``--from-template`` may name; each is a folder of that name in ``templates/skills``."""

DESCRIPTION = "Counts the words of a text and finds the longest one. Replace it with a skill of your own."
"""What a skill that was just created does."""

TESTS_FILE = "tests/basic.eval.json"
REQUIREMENTS_FILE = "requirements.txt"

MAX_TASKS = 10
TIMEOUT_MS = 10_000
"""Limits of the starter tasks of a generated skill."""

_ROOT = Path(__file__).parent / "templates" / "skills"
_ENDING = ".jinja"


def draft_skill(name: SkillName, template: str, parent: Path, *, description: str = DESCRIPTION) -> Draft:
    """The skill `name` from `template`, as a folder of its id in `parent`; every file of the template is in it.

    `name` and `description` are shown as literal text, whatever markup they hold.

    Raises:
        UsageError: there is no such template; the nearest is named.
    """
    if template not in TEMPLATES:
        valid = f"{nearest(template, TEMPLATES)}; valid are {', '.join(TEMPLATES)}"
        raise UsageError(f"--from-template {template!r} is unknown{valid}")
    folder = parent / name.id
    values = {"name": name.name, "id": name.id, "description": description, "own_tests_command": _own(own_tests_command(folder))}
    return checked_skill(Draft(folder, rendered(template, values)))


def rendered(template: str, values: Mapping[str, Any]) -> dict[str, str]:
    """The files of a folder of templates, by their paths in it, with these values."""
    sources = sorted((_ROOT / template).rglob(f"*{_ENDING}"))
    files = [source.relative_to(_ROOT).as_posix() for source in sources]
    texts = {file: _environment().get_template(file).render(values) for file in files}
    return {file.removeprefix(f"{template}/").removesuffix(_ENDING): text for file, text in texts.items()}


def basic_benchmark(skill_id: str, name: str, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """The starter tasks of a generated skill as a benchmark."""
    return {
        "id": f"{skill_id}-basic",
        "name": f"{name}: the basics",
        "version": "1.0.0",
        "domain": "tool-use",
        "scoringMethod": "mean",
        "maxLatencyMs": 5000,
        "tasks": tasks,
    }


def own_tests_command(folder: Path) -> str:
    """The command that runs, from the current folder, the tests of the skill in `folder`."""
    skill = shown_path(folder)
    return shlex.join(["eval-skills", "eval", "--skills", skill, "--tasks", f"{skill}/{TESTS_FILE}"])


def shown_path(path: Path) -> str:
    """`path` as people would type it: relative where it is below the current folder, else absolute."""
    absolute, here = Path(os.path.abspath(path)), Path.cwd()
    shown = str(absolute.relative_to(here) if absolute.is_relative_to(here) else absolute)
    return f"./{shown}" if shown.startswith("-") else shown


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from eval_skills.reporting.escape import markdown

    environment = Environment(
        loader=FileSystemLoader(_ROOT),
        autoescape=False,  # noqa: S701 - `finalize` refuses what no filter has escaped
        finalize=_only_filtered,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"json": _json, "markdown": markdown}
    return environment


def _only_filtered(value: Any) -> Markup:
    from markupsafe import Markup

    if not isinstance(value, Markup):
        raise TypeError(f"a template prints {value!r} as it is; send it through the filter json or markdown")
    return value


def _json(value: Any) -> Markup:
    return _own(json.dumps(value, ensure_ascii=False, allow_nan=False))


def _own(text: str) -> Markup:
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - JSON, or words quoted for a shell
