"""The files of a project: its folders as the configuration names them, its ``.gitignore``, and a GitHub Actions workflow."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from eval_skills.core.config.layers import HOME_FILE, PROJECT_FILE
from eval_skills.core.store.layout import SQLITE_SUFFIXES

if TYPE_CHECKING:
    from eval_skills.core.config import LayeredConfig

_STANDARD = {"skillsDir": "skills", "benchmarksDir": "benchmarks", "outputDir": "reports", "store": "eval-store"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFolders:
    """The folders of the project in `folder`; all paths are absolute. `store` may be a URL as well."""

    folder: Path
    skills: Path
    benchmarks: Path
    reports: Path
    store: str

    @classmethod
    def of(cls, folder: Path, layers: LayeredConfig, home: Path) -> ProjectFolders:
        """The folders that the configuration in force in `folder` names.

        The file in `home` is ignored: it applies to every folder, and a project must be complete without it.
        """
        ignored = {"default", str(home / HOME_FILE)}
        places = {key: str(folder / name) for key, name in _STANDARD.items()}
        places |= {key: str(layers.get(key)) for key in _STANDARD if layers.get(key) and layers.origin(key) not in ignored}
        return cls(
            folder=folder,
            skills=Path(places["skillsDir"]),
            benchmarks=Path(places["benchmarksDir"]),
            reports=Path(places["outputDir"]),
            store=places["store"],
        )

    @property
    def config(self) -> Path:
        """The project's configuration file."""
        return self.folder / PROJECT_FILE

    def holds(self, path: Path) -> bool:
        """Whether `path` is the project's folder or below it: nothing is written anywhere else."""
        return Path(os.path.normpath(path)).is_relative_to(self.folder)

    def written(self, path: str | Path) -> str:
        """The path as the configuration file has it: relative to its folder where it is below it."""
        if "://" in str(path) or not self.holds(Path(path)):
            return str(path)
        return f"./{Path(os.path.normpath(path)).relative_to(self.folder).as_posix()}"

    def results(self) -> list[tuple[Path, bool]]:
        """What runs write in the project: paths, and whether each is a folder."""
        store = Path(self.store)
        if store.suffix.lower() in SQLITE_SUFFIXES:
            left = [(self.reports, True), (store, False), (store.with_name(f"{store.stem}.store"), True)]
        else:
            left = [(self.reports, True), (store, True)]
        return [(path, is_folder) for path, is_folder in left if self.written(path).startswith("./") and path != self.folder]


def with_lines(text: str, wanted: Sequence[str]) -> str:
    """`text` with those of the `wanted` lines appended that it lacks; the same text if it has them all.

    A line counts as there in any spelling of it (``reports``, ``/reports/``, ``**/reports/**``), and when it is negated: then
    these files are kept on purpose. Line ends are as in the text; a missing one at its end is added first.
    """
    known = {_name(line) for line in text.splitlines()}
    missing = [line for line in dict.fromkeys(wanted) if _name(line) not in known]
    end = "\r\n" if "\r\n" in text else "\n"
    head = text + end if missing and text and not text.endswith("\n") else text
    return head + "".join(line + end for line in missing)


def pattern(path: str, *, is_folder: bool) -> str:
    """The line that ignores this one path, relative to the file's own folder."""
    return "/" + re.sub(r"([\\*?\[\]])", r"\\\1", path) + ("/" if is_folder else "")


def _name(line: str) -> str:
    bare = line.strip().lstrip("\ufeff").removeprefix("!").removeprefix("**/").removeprefix("/")
    return re.sub(r"/\*{0,2}$", "", bare)


TEMPLATES = Path(__file__).parent / "templates" / "project"
WORKFLOWS = Path(".github", "workflows")
ACTION = Path(".github", "actions", "eval-skills")
ACTION_FILES = ("action.yaml", "post.py")


def action(folder: Path) -> list[tuple[Path, str]]:
    """The files of the action that the workflow posts its result with, beside it: where each belongs, and its text."""
    place = repository_root(folder) / ACTION
    return [(place / name, (TEMPLATES / "action" / name).read_text(encoding="utf-8")) for name in ACTION_FILES]


def repository_root(folder: Path) -> Path:
    """The root of the repository that `folder` is in; the folder itself without one."""
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)


def workflow(folder: Path, reports: Path, store: str) -> tuple[Path, str]:
    """Where the workflow of the project in `folder` belongs, and its text; `reports` is the folder of its report files.

    It installs the version that writes it. The `store` is kept from run to run, unless it is behind a URL and so kept already.

    GitHub reads workflows at the root of a repository only. So inside a repository the file belongs there, and for a project
    in a folder below it the file is named after that folder. Without a repository it belongs into `folder`.
    """
    root = repository_root(folder)
    inside = folder.relative_to(root).as_posix()
    name = "-".join(filter(None, ["eval-skills", *re.findall(r"[a-z0-9]+", inside.lower())]))
    own = Path(store)
    places = [] if "://" in store else [own, own.with_name(f"{own.stem}.store")] if own.suffix in SQLITE_SUFFIXES else [own]
    text = _rendered(
        name=name,
        folder=inside,
        reports=f"{_below(root, reports)}/",
        store="\n".join(_below(root, place) for place in places),
        version=version("eval-skills"),
    )
    return root / WORKFLOWS / f"{name}.yaml", text


def _below(root: Path, path: Path) -> str:
    """The path as GitHub's actions know it: below the repository's root, where it is there."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _rendered(**values: str) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # What is printed is YAML: texts go through `tojson`, which YAML reads as they are.
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined)
    environment.keep_trailing_newline = True
    return environment.get_template("github.yaml.jinja").render(values)
