"""The saved state of a monitor: how far it has read, its window, and the status that it announced last."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import AwareDatetime, Field
from pydantic_core import to_json

from eval_skills.core.documents.loading import read_document, validate
from eval_skills.core.errors import InputError
from eval_skills.core.fingerprint import digest_of_json
from eval_skills.core.models import Model
from eval_skills.core.monitoring import HealthStatus, Judged
from eval_skills.core.store import Store
from eval_skills.core.store.files import explained, openness, write_whole
from eval_skills.engine.definition.scoring import judges_of
from eval_skills.engine.monitor.expectation import MonitorTask
from eval_skills.engine.monitor.log.files import FilePosition
from eval_skills.engine.monitor.request import MonitorRequest

ID_CHARS = 12


class WindowSample(Model):
    """A sample of the window; `content` as in `Judged`: "" also in files of earlier versions, which kept ids alone."""

    id: str
    passed: bool
    score: float | None = None
    error: bool = False
    content: str = ""


class MonitorState(Model):
    """What the next call needs. `pending` is the batch that was about to land, until it is known that it has.

    `knows_rotated`: `files` also holds what the log had been rotated to before the first call. `last_record`: when the file of
    the last new record was last written to; None where there was none since an earlier version wrote this. `judged_at`: when a
    sample was last judged; None as for `last_record`. `too_little` is that of `MonitorSummary`.
    `judged_lately`: of the last samples, at most as many as the window holds, whether the judge judged each.
    """

    monitor_id: str
    log: str
    files: list[FilePosition] = Field(default_factory=list)
    knows_rotated: bool = False
    window: list[WindowSample] = Field(default_factory=list)
    announced: HealthStatus = "insufficient_data"
    pending: str | None = None
    last_record: AwareDatetime | None = Field(default=None, strict=False)
    judged_at: AwareDatetime | None = Field(default=None, strict=False)
    too_little: bool = False
    judged_lately: list[bool] = Field(default_factory=list)

    @property
    def samples(self) -> list[Judged]:
        """The window, oldest first."""
        return [Judged(each.id, each.passed, each.score, each.error, each.content) for each in self.window]


def monitor_id(request: MonitorRequest, task: MonitorTask) -> str:
    """The id of the monitor, a digest of everything that decides what is sampled and how it is scored: not the thresholds, the
    window or the interval."""
    decisive = {"rate", "seed", "skill", "evaluator", "weights", "tool_categories", "tool_names", "fields"}
    said = request.model_dump(mode="json", include=decisive)
    judge = {"llm": request.llm.deciding} if judges_of(task.scorings) is not None else {}
    content = {"log": str(Path(request.log).resolve()), "task": task.task.to_json(), **said, **judge}
    return digest_of_json(content).removeprefix("sha256:")[:ID_CHARS]


def state_file(store: Store, monitor: str) -> Path:
    """The file of the state; it need not exist."""
    return store.layout.root / "monitors" / monitor / "position.json"


def read_state(file: Path) -> MonitorState | None:
    """The state in the file; None where there is none, InputError where it is damaged."""
    if not file.exists():
        return None
    try:
        return validate(MonitorState, read_document(file), source=file)
    except InputError as error:
        raise InputError(f"{error}; start at the beginning of the log with --restart") from None


def write_state(file: Path, position: MonitorState) -> None:
    """Write the state, whole or not at all; RunError where that is not possible, as on a full disk."""
    with explained(file):
        write_whole(file, to_json(position.to_json()) + b"\n", mode=openness(file.parents[2]))


def window_of(samples: Sequence[Judged]) -> list[WindowSample]:
    """The window as it is written."""
    return [
        WindowSample(id=each.interaction_id, passed=each.passed, score=each.score, error=each.error, content=each.content)
        for each in samples
    ]
