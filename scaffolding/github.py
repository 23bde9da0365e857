"""A GitHub Actions workflow that evaluates a project."""

from __future__ import annotations

import re
from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates" / "project"
WORKFLOWS = Path(".github", "workflows")


def workflow(folder: Path, reports: Path) -> tuple[Path, str]:
    """Where the workflow of the project in `folder` belongs, and its text; `reports` is the folder of its report files.

    GitHub reads workflows at the root of a repository only. So inside a repository the file belongs there, and for a project
    in a folder below it the file is named after that folder. Without a repository it belongs into `folder`.
    """
    root = next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)
    inside = folder.relative_to(root).as_posix()
    name = "-".join(filter(None, ["eval-skills", *re.findall(r"[a-z0-9]+", inside.lower())]))
    kept = reports.relative_to(root).as_posix() if reports.is_relative_to(root) else str(reports)
    return root / WORKFLOWS / f"{name}.yaml", _rendered(name=name, folder=inside, reports=f"{kept}/")


def _rendered(**values: str) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # What is printed is YAML: texts go through `tojson`, which YAML reads as they are.
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined)
    environment.keep_trailing_newline = True
    return environment.get_template("github.yaml.jinja").render(values)
