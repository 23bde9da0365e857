"""A benchmark's own scorer: a function in a Python file beside it, found without running it and run in a process of its own."""

from __future__ import annotations

import symtable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse
from eval_skills.core.text import nearest
from eval_skills.scorers.answer import file_of_benchmark, unwrapped
from eval_skills.scorers.custom.process import result_of_host
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import InvalidScore, Score, as_score
from eval_skills.scorers.settings import ScoringSettings


@scorer("custom")
@dataclass(frozen=True, slots=True, kw_only=True)
class Custom:
    """The verdict of the function that ``customScorerPath`` names: ``file.py:function``, by default the function `score`.

    The file lies in the benchmark's folder, links followed. The function is called as ``function(output, expected, task)``:
    the answer (unwrapped, unless the expected value is an object), `expectedOutput.value` or None, and the task as its JSON
    object. It returns a number in [0, 1] (only 1 passes), true or false, or ``{"score": number, "passed": bool, "reason":
    text}``; it may be asynchronous. It runs in a process of its own, in the benchmark's folder, with few environment variables,
    and is killed with all it started once it has answered, or after ``timeoutMs``. Python opens no files outside that folder for
    it, but temporary ones and what is installed. That bounds its time and keeps accidents apart; it is not a sandbox, hence
    ``allow_custom_code``.

    Raises:
        InputError: custom code is not allowed, or the file or function cannot be used.
    """

    custom_scorer_path: str
    timeout_ms: Annotated[int, Field(gt=0, le=600_000)] = 5_000
    task: EvalTask
    settings: ScoringSettings
    _file: CustomFile = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        refuse_unless_allowed(self.settings, _PATH)
        object.__setattr__(self, "_file", CustomFile.find(self.custom_scorer_path, self.settings.benchmark_folder))

    @property
    def code_files(self) -> tuple[Path, ...]:
        """The file of the function."""
        return (self._file.path,)

    async def score(self, response: SkillResponse) -> Score | None:
        """What the function returned.

        Raises:
            ScorerError: the function raised, ran out of time, ended its process, or returned something else.
        """
        who = f"custom scorer {self.custom_scorer_path!r}"
        result = await result_of_host(self._request(response.output), self._file.folder, self.timeout_ms / 1000, who)
        if result is None:
            raise InvalidScore(f"{who} returned None; return a number, true or false, or an object")
        return as_score(result)

    def _request(self, output: Any) -> dict[str, Any]:
        expected = self.task.expected_value
        return {
            "file": str(self._file.path),
            "function": self._file.function,
            "output": output if isinstance(expected, dict) else unwrapped(output),
            "expected": expected,
            "task": self.task.to_json(),
        }


def refuse_unless_allowed(settings: ScoringSettings, path: str) -> None:
    """Refuse code of the benchmark, which the option at `path` holds or names.

    Raises:
        InputError: custom code is not allowed.
    """
    if not settings.allow_custom_code:
        message = "a custom scorer runs code that the benchmark brings; read it, then allow it with --allow-custom-code"
        raise InputError(message, path=path)


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
