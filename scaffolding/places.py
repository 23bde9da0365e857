"""Where a project keeps its things: as its configuration says, else in folders beside it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eval_skills.core.config.layered import HOME_FILE, PROJECT_FILE
from eval_skills.core.store.layout import SQLITE_SUFFIXES

if TYPE_CHECKING:
    from eval_skills.core.config import LayeredConfig

_STANDARD = {"skillsDir": "skills", "benchmarksDir": "benchmarks", "outputDir": "reports", "store": "eval-store"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The folders of the project in `folder`; all paths are absolute. `store` may be a URL as well."""

    folder: Path
    skills: Path
    benchmarks: Path
    reports: Path
    store: str

    @classmethod
    def of(cls, folder: Path, layers: LayeredConfig, home: Path) -> Places:
        """The places that the configuration in force in `folder` names.

        What stands in the file of `home` is not followed: it holds for every folder, and a project is complete without it.
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
        """What runs leave behind in the project: paths, and whether each is a folder."""
        store = Path(self.store)
        if store.suffix.lower() in SQLITE_SUFFIXES:
            left = [(self.reports, True), (store, False), (store.with_name(f"{store.stem}.store"), True)]
        else:
            left = [(self.reports, True), (store, True)]
        return [(path, is_folder) for path, is_folder in left if self.written(path).startswith("./") and path != self.folder]
