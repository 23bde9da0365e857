"""What a flow run is asked to do: typed, JSON-able, and a form in the Prefect UI; and whether it can write where it should."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_args, get_origin

from pydantic import AfterValidator, AwareDatetime, Field, model_validator

from eval_skills.adapters import Confinement
from eval_skills.adapters.recorded import read_recorded
from eval_skills.core.config.keys import is_model, is_optional
from eval_skills.core.config.options import CallOptions, FlowOptions
from eval_skills.core.config.values import PathText, ProcessLimits
from eval_skills.core.documents.loading import MAX_DOCUMENT_BYTES
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import AdapterType, Model
from eval_skills.core.models.base import Rate, fields_by_key
from eval_skills.core.redaction import Redaction
from eval_skills.core.store import Store
from eval_skills.core.store.digests import DIGESTS_FILE
from eval_skills.core.store.layout import Layout

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

SKIPPED = "skipped"
"""Where the provenance of a pipeline's evaluation has the remarks on skills that were found and cannot be used."""

Origin = Literal["run", "part", "rescore", "replay", "monitor", "confirm", "traces", "cached"]
"""What wrote a row: a run of its own right, one that was asked only a part of its benchmark, later work, recorded runs
(``traces``) that were not called here, or a run that may have taken kept answers (``cached``).

Only ``run`` and ``replay`` speak of a skill's course over time; ``part`` does where there is neither.
"""

PART = "part"
"""The origin of a run that was asked a part of its benchmark, and where its provenance has how many ``tasks`` ``of`` how many."""


def part_remarks(provenance: Mapping[str, Any], benchmark_id: str) -> list[str]:
    """That a run with this provenance was asked a part of its benchmark, in a sentence; empty where it was asked all of it."""
    if (part := provenance.get(PART)) is None:
        return []
    return [f"only {part['tasks']:,} of the {part['of']:,} tasks of {benchmark_id} {'is' if part['tasks'] == 1 else 'are'} asked"]


def absolute_if_there(path: str | None) -> str | None:
    """An existing path made absolute; what is not there, such as the id of a benchmark, as it is."""
    return str(Path(path).resolve()) if path and Path(path).exists() else path


def confinement_asked(options: ProcessLimits) -> Confinement:
    """What every skill is held to."""
    return Confinement(**{name: getattr(options, name) for name in ProcessLimits.model_fields})


class EvaluateRequest(CallOptions):
    """Evaluate these skills: the core of every pipeline."""

    skills: list[str] = Field(default_factory=list, description="skill.json files, skill folders, or folders of skills")
    task_tags: list[str] = Field(title="Tasks by tag", default_factory=list, description="Only tasks with all of these tags")
    origin: Origin = Field(title="Origin of the rows", default="run", description="What the rows say they come from")
    provenance: dict[str, Any] = Field(default_factory=dict, description="Where the run comes from, for its manifest; JSON data")
    at: AwareDatetime | None = Field(
        title="Date of the run",
        default=None,
        strict=False,
        description="The moment, with its time zone, that the run is dated at [default: now]",
    )

    @model_validator(mode="after")
    def _calls_or_reads(self) -> Self:
        if self.skills and self.traces:
            raise ValueError("--skills are called and --traces are not; give one of them")
        return self


_NAMES = ("evaluator", "format", "at")
"""Options whose texts are not free: they name what is registered (a scorer, formats), or are a moment."""


def redacted_request(redaction: Redaction, request: dict[str, Any]) -> dict[str, Any]:
    """The JSON data of an `EvaluateRequest` without secrets, which still reads back as one.

    Keys, numbers, switches, names of variables and of scorers, and words of fixed sets stay: they are of our own making, and a
    secret that is spelt like one of them (``none``, ``json``, ``30000``) is not given away by it. So does what an option is
    unless something is said. Paths, ids and other free texts are redacted.
    """
    return _redacted(EvaluateRequest, redaction, request)


def _redacted(model: type[Model], redaction: Redaction, options: dict[str, Any]) -> dict[str, Any]:
    fields, defaults = _fields(model)
    groups = {
        name: _redacted(group, redaction, options[name])
        for name, field in fields.items()
        if is_model(group := field.annotation) and isinstance(options.get(name), dict)
    }
    free = [
        name
        for name, value in options.items()
        if name not in groups and not (name in fields and (value == defaults[name] or _is_ours(fields[name], name)))
    ]
    cleaned = redaction.data([options[name] for name in free])  # together: a secret may be split over two of them
    return options | groups | dict(zip(free, cleaned, strict=True))


@cache
def _fields(model: type[Model]) -> tuple[dict[str, FieldInfo], dict[str, Any]]:
    """The fields of a model and their defaults, by how JSON calls them."""
    fields = fields_by_key(model)
    return fields, {name: field.get_default(call_default_factory=True) for name, field in fields.items()}


def _is_ours(field: FieldInfo, name: str) -> bool:
    return name in _NAMES or _is_fixed(field.annotation, field.metadata)


def _is_fixed(kind: Any, marks: Sequence[Any] = ()) -> bool:
    """Whether the type leaves no room for free text: numbers, switches, moments, fixed words, and texts that a check of ours
    holds to a pattern."""
    if any(isinstance(mark, AfterValidator) for mark in marks) or get_origin(kind) is Literal:
        return True
    if get_origin(kind) is Annotated:
        inner, *marks = get_args(kind)
        return _is_fixed(inner, marks)
    if is_optional(kind) or get_origin(kind) is list:
        return all(part is type(None) or _is_fixed(part) for part in get_args(kind))
    return isinstance(kind, type) and issubclass(kind, bool | int | float | datetime)


class PipelineRequest(CallOptions):
    """Find, evaluate, select, report."""

    skills_dir: PathText = Field(
        title="Folder of skills", default="./skills", description="The folder that is searched for skills"
    )
    query: str | None = Field(title="Search text", default=None, description="Text to find in name, description or tags")
    tags: list[str] = Field(title="Skills by tag", default_factory=list, description="Only skills with all of these tags")
    adapter: AdapterType | None = Field(title="Skills by adapter", default=None, description="Only skills behind this adapter")
    top_k: int | None = Field(title="Skills to select", default=None, ge=1, description="Select at most this many")
    keep_ties: bool = Field(default=False, description="Select also the skills that are as good as a selected one")
    strategy: PathText | None = Field(
        title="File of the strategy", default=None, description="A YAML or JSON file with filters, order and topK"
    )
    min_completion: Rate | None = Field(
        title="Lowest completion rate",  # type: ignore[assignment] # None: the strategy's own floor, else 0.7
        default=None,
        description="The completion rate that a selected skill must reach",
    )

    def evaluation(self, skills: list[str], skipped: Sequence[str] = ()) -> EvaluateRequest:
        """The evaluation of `skills` inside this pipeline, which writes the reports itself; `skipped` says why others that were
        found cannot be used, for the run's manifest.

        What was not said stays unsaid: a resume then goes on as its run began.
        """
        said = (CallOptions.model_fields.keys() & self.model_fields_set) - {"min_completion"}
        shared: dict[str, Any] = {name: getattr(self, name) for name in said}
        noted = {"provenance": {SKIPPED: list(skipped)}} if skipped else {}
        return EvaluateRequest(**{**shared, **noted, "format": [], "skills": skills})


def check_writable(request: FlowOptions) -> None:
    """Refuse an output folder or a store that cannot be written to. Nothing is left behind; missing folders are not created.

    Raises:
        UsageError: one of them is a file, lies below a file, or may not be written to; its object storage cannot be opened.
        RunError: that cannot be reached.
    """
    store = Store(request.store)
    layout = store.layout
    check_store(layout, "results", "runs", "items", "reports")
    check_folder(Path(request.output_dir), "--output-dir", "reports")
    if layout.sqlite is not None:
        check_file(layout.sqlite, "--store", "results")
    if isinstance(request, CallOptions) and request.record:
        check_file(Path(request.record), "--record", "answers")
        _check_replaced(Path(request.record))


def _check_replaced(file: Path) -> None:
    """Refuse to write a recording over a `file` that is something else: the tasks, a skill, whatever a slip of the hand names."""
    try:
        with file.open("rb") as there:
            begins = there.read(MAX_DOCUMENT_BYTES).lstrip()
        if begins:
            read_recorded(begins.partition(b"\n")[0], str(file))
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"--record {file}: what is there cannot be read: {error.strerror}; name another file") from None
    except InputError:
        raise UsageError(f"--record {file}: this file exists and is not a recording; name another file, or move it") from None


def check_store(layout: Layout, what: str, *tables: str) -> None:
    """Refuse a store to which `what` cannot be added today, in `tables`, its folders. What another user began there may be closed
    to this one while the store itself is open, and the run would be found out when it has been paid for.

    Raises:
        UsageError: something in it cannot be written to.
    """
    check_folder(layout.root, "--store", what)
    today = f"date={datetime.now(UTC).date().isoformat()}"
    for written in (*(f"{table}/{today}" for table in tables), DIGESTS_FILE):
        place = _nearest(layout.root / written)
        try:
            _open_to_write(place)
        except OSError as error:
            raise UsageError(
                f"--store {layout.root}: {what} cannot be written to {place}: {error.strerror}; "
                "let this user write there (chmod), or name another folder"
            ) from None


def check_folder(folder: Path, option: str, what: str) -> None:
    """Refuse a `folder` in which `what` cannot be written; it need not exist.

    A temporary file is created in it, or in the nearest existing folder above it: permissions alone do not show what root may do,
    nor a read-only file system.

    Raises:
        UsageError: it cannot be written to; the message has the reason.
    """
    try:
        _open_to_write(_nearest(folder))
    except OSError as error:
        raise UsageError(f"{option} {folder}: {what} cannot be written here: {error.strerror}; name another folder") from None


def _nearest(folder: Path) -> Path:
    """The folder, or the nearest above it that exists."""
    return next(place for place in (folder, *folder.absolute().parents) if place.exists())


def _open_to_write(place: Path) -> None:
    """Open a temporary file in a folder, or the digests of a store to append to them. Raises OSError."""
    with place.open("ab") if place.name == DIGESTS_FILE else TemporaryFile(dir=place):
        pass


def check_file(file: Path, option: str, what: str) -> None:
    """Refuse a `file` that cannot be written to; it need not exist. Raises UsageError: it is a folder, or see `check_folder`."""
    if file.is_dir():
        raise UsageError(f"{option} {file}: this is a folder; name a file")
    check_folder(file.parent, option, what)
