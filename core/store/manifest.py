"""The manifest of a run: what was asked, of what, with which versions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ConfigDict, Field, field_validator
from pydantic_core import from_json, to_json

from eval_skills.core.documents.loading import read_document, validate
from eval_skills.core.errors import InputError
from eval_skills.core.models import Model
from eval_skills.core.redaction import Redaction
from eval_skills.core.store.digests import KEY as CHECKSUM
from eval_skills.core.store.digests import with_checksum, without_checksum
from eval_skills.core.store.files import explained, openness, write_whole
from eval_skills.core.store.layout import check_run_id

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FILE_NAME = "manifest.json"
EXPERIMENT = "skillEffect"
"""Where the provenance of a run says that its skills are the arms of an experiment with Agent Skills."""

TRIGGERS = "triggers"
"""Where it says that the run measures whether an agent loads an Agent Skill when it should."""

SELECTION = "selection"
"""Where it has the strategy by which a pipeline selects the best skills of the run."""

FORMAT = 1
"""The version of a run's manifest and journal. It rises when a key changes its meaning, never when one is added."""


class _Lasting(Model):
    """What is read by later and by earlier versions: keys that this one does not know are kept, and written again."""

    model_config = ConfigDict(extra="allow")


class ManifestSkill(_Lasting):
    """A skill as it was: ``id@version``, the digest of its folder, its path, and how it was called.

    `adapter` is the type of its adapter, `adapter_digest` stands for its entrypoint and configuration; older manifests lack both.
    """

    key: str
    digest: str | None = None
    path: str | None = None
    adapter: str | None = None
    adapter_digest: str | None = None


class ManifestBenchmark(_Lasting):
    """The benchmark as it was."""

    id: str
    version: str
    digest: str | None = None
    path: str | None = None


class ReachedLimit(_Lasting):
    """The limit of a run at which no other item began: what was `allowed`, and what was `spent` when all in flight had finished.

    Both are USD (``cost``), tokens, or the seconds of one call (``duration``).
    """

    limit: Literal["cost", "tokens", "duration"]
    allowed: float
    spent: float

    @property
    def name(self) -> str:
        """``cost limit``, ``token limit`` or ``time limit``."""
        return {"cost": "cost limit", "tokens": "token limit", "duration": "time limit"}[self.limit]


class Manifest(_Lasting):
    """What a run was asked to do; written before its first item, and enough to resume it.

    `request` is free: the options of the call. So is `provenance`: of a run that was made from another one, or is dated in the
    past, it says from what, how and when. `skipped` says why skills that were asked for could not be used; the rest of the run
    knows nothing of them either. `versions` names what took part (`eval-skills`, `python`, `prefect` …), `scorers` the
    scorers with a digest of the code of each; None in an older manifest.
    `stopped` says which of its limits ended the last call, where items are left for that; None in an older manifest.
    Whether the run is finished is not written here: it is read off the files. `format` is that of the version that wrote it.
    """

    format: int = Field(default=FORMAT, ge=1)
    run_id: str
    created_at: datetime = Field(strict=False)
    request: dict[str, Any] = Field(default_factory=dict)
    skills: list[ManifestSkill]
    benchmark: ManifestBenchmark
    versions: dict[str, str] = Field(default_factory=dict)
    scorers: dict[str, str] | None = None
    git_commit: str | None = None
    platform: str | None = None
    planned_items: int = Field(ge=0)
    flow_run_id: str | None = None
    provenance: dict[str, Any] = Field(default_factory=dict)
    skipped: list[str] = Field(default_factory=list)
    stopped: ReachedLimit | None = None

    @property
    def origin(self) -> str:
        """What wrote the run's rows: ``run``, or ``rescore``, ``replay`` …"""
        return str(self.request.get("origin", "run"))

    @property
    def has_arms(self) -> bool:
        """Whether the run compares arms with and without an Agent Skill."""
        return EXPERIMENT in self.provenance

    @property
    def is_of_a_program(self) -> bool:
        """Whether skills or tasks were objects of a Python program, such as functions: no other process can have them."""
        has_tasks = self.request.get("benchmark") is not None and self.benchmark.path is None  # one on disk has a path
        return has_tasks or any(each.path is None and each.adapter is not None for each in self.skills)

    @property
    def unknown_keys(self) -> list[str]:
        """The places of the keys that this version does not know, as a newer one may have written them."""
        parts = {"": self, "benchmark.": self.benchmark} | {f"skills[{n}].": each for n, each in enumerate(self.skills)}
        return [f"{place}{key}" for place, part in parts.items() for key in part.model_extra or {}]

    @field_validator("run_id")
    @classmethod
    def _is_a_run_id(cls, value: str) -> str:
        return check_run_id(value)


Redact = Callable[[Redaction, dict[str, Any]], dict[str, Any]]

_DIGESTS = ("digest", "adapterDigest")
"""What is computed from files holds no secret, and a resume compares it."""


def write_manifest(
    folder: Path, manifest: Manifest, *, secrets: Mapping[str, str] | None = None, redact_request: Redact = Redaction.data
) -> Path:
    """Write ``manifest.json`` into the run's folder, whole or not at all; values of `secrets` are redacted in it.

    `redact_request` does that for the request, where it is known which of its values cannot be secrets.

    Raises:
        RunError: it cannot be written, as on a full disk.
    """
    path = folder / FILE_NAME
    data, redaction = manifest.to_json(), Redaction(secrets)
    data |= {name: redaction.data(data[name]) for name in ("versions", "platform", "provenance", "skipped")}
    data["request"] = redact_request(redaction, data["request"])
    data["skills"] = [_identified(each, redaction) for each in data["skills"]]
    data["benchmark"] = _identified(data["benchmark"], redaction)
    with explained(path):
        write_whole(path, with_checksum(to_json(data, indent=2), indent="  ") + b"\n", mode=openness(folder.parents[1]))
    return path


def _identified(part: dict[str, Any], redaction: Redaction) -> dict[str, Any]:
    clean: dict[str, Any] = redaction.data(part)
    return clean | {name: part[name] for name in _DIGESTS if name in part}


def _as_written(path: Path) -> Any:
    """The document of a file whose checksum holds; None of any other. What we wrote has none of the mistakes that people make;
    to look for these takes longer than all else, and a store has a manifest for each of its runs."""
    try:
        text = path.read_bytes()
        body = without_checksum(text)
        return from_json(body) if len(body) < len(text.strip()) else None
    except (OSError, ValueError):
        return None


def _edited(path: Path) -> Any:
    document = read_document(path)
    if isinstance(document, dict) and document.pop(CHECKSUM, None) is not None:
        try:
            without_checksum(path.read_bytes())
        except ValueError as error:
            raise InputError(str(error), source=path) from None
    return document


def read_manifest(folder: Path) -> Manifest:
    """The manifest in a run's folder, of this version or any other: keys that are not known are kept (`Manifest.unknown_keys`).

    Raises:
        InputError: it is missing, unreadable or not a manifest, its checksum does not hold, or it is another run's (a copied
            folder).
    """
    path = folder / FILE_NAME
    document = _as_written(path) or _edited(path)
    manifest = validate(Manifest, document, source=path)
    if manifest.run_id != folder.name:
        raise InputError(f"it belongs to run {manifest.run_id}, and the folder is named {folder.name}", source=path)
    return manifest
