"""The file and function of a custom scorer, found and read without running it."""

from __future__ import annotations

import symtable
from dataclasses import dataclass
from pathlib import Path

from eval_skills.core.errors import InputError, nearest
from eval_skills.scorers.benchmark_file import file_of_benchmark

_PATH = "customScorerPath"


@dataclass(frozen=True, slots=True)
class CustomFile:
    """A function of a Python file inside the benchmark's folder."""

    folder: Path
    path: Path
    function: str

    @classmethod
    def find(cls, written: str, folder: Path | None) -> CustomFile:
        """The file that ``file.py:function`` names, relative to the benchmark's folder.

        Raises:
            InputError: the folder is unknown, the file is missing, unreadable or outside the folder (compared by resolved path
                components, links followed), or has no such function.
        """
        file, _, function = written.partition(":")
        root, path = file_of_benchmark(file, folder, option=_PATH, what="scorer")
        if path.suffix != ".py" or not path.is_file():
            raise InputError(f"no Python file {file!r} in the benchmark's folder; write it as file.py:function", path=_PATH)
        found = cls(root, path, function or "score")
        found._refuse_unknown_function()
        return found

    def _refuse_unknown_function(self) -> None:
        try:
            names = symtable.symtable(self.path.read_text(encoding="utf-8"), self.path.name, "exec")
        except (SyntaxError, ValueError, OSError) as error:
            raise InputError(f"{self.path.name} cannot be read as Python: {error}", path=_PATH) from error
        bound = [each.get_name() for each in names.get_symbols() if each.is_assigned() or each.is_imported()]
        if self.function not in bound:
            raise InputError(
                f"{self.path.name} has no function {self.function!r}{nearest(self.function, bound)}; define it", path=_PATH
            )
