"""Where the runs of a workspace lie: by eval, configuration and run, in either of the layouts that programs write.

``<skill>-workspace/iteration-N/eval-<name>/<configuration>/`` holds ``grading.json``, ``timing.json`` and ``outputs/``; below the
configuration there may be ``run-N/``, and above the evals ``runs/``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval_skills.agent_skills.documents import D, Document, Identifier, read_as
from eval_skills.agent_skills.workspaces.grading import GRADING_FILE, Grading
from eval_skills.agent_skills.workspaces.timing import TIMING_FILE, Timing
from eval_skills.core.errors import InputError
from eval_skills.core.text import first_of, plural

WITH, WITHOUT, OLD, SHAM = "with_skill", "without_skill", "old_skill", "sham_skill"
"""The names of configurations. The first three are those of the field; a sham is ours."""

CONFIGURATIONS = {"with": WITH, "without": WITHOUT, "old": OLD, "sham": SHAM}
"""The configuration of each arm of an evaluation."""

OUTPUTS, METADATA_FILE = "outputs", "eval_metadata.json"

_ITERATION, _EVAL, _RUN = re.compile(r"iteration-(\d+)"), re.compile(r"eval-(.+)"), re.compile(r"run-(\d+)")
_NO_CONFIGURATIONS = frozenset({OUTPUTS, "inputs", "skill", "runs", "files"})


class EvalMetadata(Document):
    """``eval_metadata.json`` beside the configurations of an eval: which one it is, what was asked, and what was expected."""

    eval_id: Identifier | None = None
    eval_name: str | None = None
    prompt: str | None = None
    expected_output: str | None = None


@dataclass(frozen=True, slots=True)
class WorkspaceRun:
    """One run: the folder that holds it, whose eval it is (``top-months`` of ``eval-top-months``), and how it ran.

    `number` counts from 1. `grading` is None where the run was not graded.
    """

    folder: Path
    eval_name: str
    configuration: str
    number: int
    grading: Grading | None
    timing: Timing
    metadata: EvalMetadata

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that were read of it."""
        return tuple(path for name in (GRADING_FILE, TIMING_FILE) if (path := self.folder / name).is_file())


@dataclass(frozen=True, slots=True)
class Workspace:
    """The runs of one iteration. `skill` is the name that the folder's has; `others` are iterations that were not read."""

    folder: Path
    skill: str
    runs: tuple[WorkspaceRun, ...]
    others: tuple[str, ...] = ()


def is_workspace(folder: Path) -> bool:
    """Whether there is an eval with a configuration in the folder, or in one of its iterations."""
    if not folder.is_dir():
        return False
    return any(next(_evals(each), None) is not None for each in (folder, *_iterations(folder)))


def read_workspace(folder: Path) -> Workspace:
    """The runs of an iteration, or of the latest one of a workspace.

    Links are not followed.

    Raises:
        InputError: it holds no runs, or a file of one cannot be read; the message has the file and the place.
    """
    if not folder.is_dir():
        raise InputError("no such folder; name a workspace, or an iteration of one", source=folder)
    iterations = _iterations(folder)
    chosen = iterations[-1] if iterations else folder
    runs = tuple(run for place in _evals(chosen) for run in _runs_of(place))
    if not runs:
        wanted = f"eval-<name>/<configuration>/{GRADING_FILE}, or run-N/{GRADING_FILE} below the configuration"
        raise InputError(f"no runs here; expected {wanted}", source=chosen)
    refuse_twice(runs)
    return Workspace(chosen, skill_name(chosen), runs, tuple(each.name for each in iterations[:-1]))


def _iterations(folder: Path) -> list[Path]:
    """The iterations, by their number."""
    found = [(int(named[1]), each) for each in _folders(folder) if (named := _ITERATION.fullmatch(each.name))]
    return [each for _, each in sorted(found)]


def _evals(folder: Path) -> Iterator[Path]:
    for above in (folder, folder / "runs"):
        for each in _folders(above):
            if _EVAL.fullmatch(each.name) and any(True for _ in _run_folders(each)):
                yield each


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(each for each in folder.iterdir() if each.is_dir() and not each.is_symlink())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", source=folder) from None


def _run_folders(place: Path) -> Iterator[tuple[str, int, Path]]:
    """The configuration, the number and the folder of each run of an eval."""
    for configuration in _folders(place):
        numbered = [(int(named[1]), each) for each in _folders(configuration) if (named := _RUN.fullmatch(each.name))]
        if numbered:
            yield from ((configuration.name, number, each) for number, each in sorted(numbered))
        elif configuration.name not in _NO_CONFIGURATIONS and _holds_a_run(configuration):
            yield configuration.name, 1, configuration


def _holds_a_run(folder: Path) -> bool:
    return (folder / GRADING_FILE).is_file() or (folder / TIMING_FILE).is_file() or (folder / OUTPUTS).is_dir()


def _runs_of(place: Path) -> Iterator[WorkspaceRun]:
    metadata = _read(EvalMetadata, place / METADATA_FILE) or EvalMetadata()
    for configuration, number, folder in _run_folders(place):
        grading = _read(Grading, folder / GRADING_FILE)
        timing = _read(Timing, folder / TIMING_FILE) or Timing()
        yield WorkspaceRun(
            folder=folder,
            eval_name=place.name.removeprefix("eval-"),
            configuration=configuration,
            number=number,
            grading=grading,
            timing=timing.or_else(grading.timing) if grading is not None else timing,
            metadata=metadata,
        )


def _read(model: type[D], path: Path) -> D | None:
    """The file; None where there is none, or what is there is a link."""
    return read_as(model, path) if path.is_file() and not path.is_symlink() else None


def refuse_twice(runs: Sequence[WorkspaceRun]) -> None:
    """Refuse runs of which two are the same.

    Raises:
        InputError: there are two with one number, of one eval and one configuration.
    """
    seen: dict[tuple[str, str, int], WorkspaceRun] = {}
    for run in runs:
        key = (run.eval_name, run.configuration, run.number)
        if (before := seen.setdefault(key, run)) is not run:
            named = f"run {run.number} of eval-{run.eval_name} under {run.configuration}"
            raise InputError(f"{named} is in {before.folder}, too; keep one", source=run.folder)


def skill_name(folder: Path) -> str:
    """``csv-tools`` of ``csv-tools-workspace/iteration-2``."""
    place = folder.resolve()
    above = place.parent if _ITERATION.fullmatch(place.name) else place
    return above.name.removesuffix("-workspace") or "skill"


def configurations_in(runs: Sequence[WorkspaceRun]) -> str:
    """The configurations in words: ``with_skill (6 runs), without_skill (6 runs)``."""
    counts: dict[str, int] = {}
    for run in runs:
        counts[run.configuration] = counts.get(run.configuration, 0) + 1
    return first_of([f"{name} ({plural(count, 'run')})" for name, count in counts.items()], 6)


def next_iteration(workspace: Path) -> Path:
    """The folder of the iteration after the last one of a workspace, which need not exist yet."""
    numbers = [int(named[1]) for each in _folders(workspace) if (named := _ITERATION.fullmatch(each.name))]
    return workspace / f"iteration-{max(numbers, default=0) + 1}"
