"""Is a file there when the agent has ended?"""

from __future__ import annotations

from dataclasses import dataclass, field

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, Reason, SkillResponse
from eval_skills.core.models.base import Text
from eval_skills.scorers.files.workspace import Workspace, checked_path
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score
from eval_skills.scorers.settings import ScoringSettings


@scorer("file_exists")
@dataclass(frozen=True, slots=True, kw_only=True)
class FileExists:
    """1 when the file `path` is in the agent's workspace after its run, else 0; with `exists` false the other way round.

    The path is relative to the workspace. A file that the task gave the agent is there unless it was deleted; with `changed` it
    counts only if the agent added or changed it. Folders do not count, nor do links, but for one to a file of the workspace. An
    answer that does not say what changed in a workspace, and a path in a folder that is not looked at (``node_modules``,
    ``.venv``, ``__pycache__``), are errors of the item, never a verdict.

    Raises:
        InputError: the path is absolute, or leads out of the workspace.
    """

    path: Text
    exists: bool = True
    changed: bool = False
    task: EvalTask
    settings: ScoringSettings
    _path: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_path", checked_path(self.path))

    def score(self, response: SkillResponse) -> Score:
        """1 or 0; the reason names what is there instead.

        Raises:
            ScorerError: what the agent changed is unknown.
        """
        workspace = Workspace.of(response, self.task, self.settings)
        is_there = workspace.holds(self._path, changed=self.changed)
        if is_there == self.exists:
            return Score(1.0, reason=self._found(workspace) if is_there else f"there is no file {self._path}")
        if self.exists:
            wanted = f"expected a file {self._path}" + (" that the agent added or changed" if self.changed else "")
            return _failed("FILE_MISSING", f"{wanted}, and {workspace.listing()}")
        return _failed("FILE_PRESENT", f"expected no file {self._path}, and {self._found(workspace)}")

    def _found(self, workspace: Workspace) -> str:
        change = workspace.change(self._path)
        if change is None:
            return f"{self._path} is there as it was given"
        size = "" if change.size is None else f" ({change.size:,} bytes)"
        return f"the agent {change.change} {self._path}{size}"


def _failed(code: str, message: str) -> Score:
    return Score(0.0, reasons=(Reason(code=code, message=message, where="files"),))


def missing(path: str, workspace: Workspace) -> Score:
    """The score of a check on a file that is not there."""
    return _failed("FILE_MISSING", f"expected a file {path}, and {workspace.listing()}")


def refuse_nothing(given: dict[str, object]) -> None:
    """Refuse a check that asks for nothing.

    Raises:
        InputError: none of the options is given.
    """
    if all(value is None or value == () for value in given.values()):
        raise InputError(f"nothing is asked of the file; give one of {', '.join(given)}", path=next(iter(given)))
