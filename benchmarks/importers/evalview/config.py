"""EvalView's configuration beside a suite, ``.evalview/config.yaml``: what of it holds for all test cases here."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field

from eval_skills.benchmarks.importers.evalview.case import CaseWeights, Part
from eval_skills.benchmarks.importers.evalview.files import with_line
from eval_skills.core.documents.loading import read_document, validate
from eval_skills.core.errors import InputError
from eval_skills.core.text import plural

FOLDER = ".evalview"
NAMES = ("config.yaml", "config.yml")


class ConfigScoring(Part):
    """The part ``scoring``."""

    weights: CaseWeights = Field(default_factory=CaseWeights)


class ConfigJudge(Part):
    """The part ``judge``."""

    model_config = ConfigDict(extra="allow")

    provider: str | None = None
    model: str | None = None


class SuiteConfig(Part):
    """What is read of a configuration; its other keys are about calling the agent, and about commands of EvalView's."""

    model_config = ConfigDict(extra="allow")

    scoring: ConfigScoring | None = None
    weights: CaseWeights | None = None
    timeout: float | None = Field(default=None, gt=0, le=86_400)
    judge: ConfigJudge | None = None


@dataclass(frozen=True, slots=True)
class SuiteDefaults:
    """What holds for the test cases that say nothing else: weights by dimension, and the time limit of a call in seconds.

    `remarks` say what of the configuration has no effect here.
    """

    weights: dict[str, float] = field(default_factory=dict)
    timeout_s: float | None = None
    remarks: tuple[str, ...] = ()

    @property
    def deciding(self) -> dict[str, Any]:
        """What of it decides how answers are judged, as JSON data; empty where there is nothing."""
        timeout = {} if self.timeout_s is None else {"timeout": self.timeout_s}
        return {**timeout, **({"weights": self.weights} if self.weights else {})}


def suite_defaults(folder: Path) -> SuiteDefaults:
    """The defaults of the suite in `folder`.

    The nearest ``.evalview/config.yaml`` counts: in the folder, or above it up to the working directory or the root of a Git
    repository; of a folder outside of both, in the folder alone.

    Raises:
        InputError: the file cannot be read, or what is read of it is invalid; the message names the file and, in YAML, the line.
    """
    file = next((place / FOLDER / name for place in _places(folder) for name in NAMES if (place / FOLDER / name).is_file()), None)
    return SuiteDefaults() if file is None else _read(file)


def _places(folder: Path) -> list[Path]:
    absolute, here = folder.resolve(), Path.cwd().resolve()
    upwards = [absolute, *absolute.parents]
    ends = [place for place in upwards if place == here or (place / ".git").exists()]
    return upwards[: upwards.index(ends[0]) + 1] if ends else [absolute]


def _read(file: Path) -> SuiteDefaults:
    document = read_document(file)
    if document is None:
        return SuiteDefaults()
    if not isinstance(document, dict):
        raise InputError("not a configuration of EvalView's: the file must be a mapping", source=file)
    try:
        config = validate(SuiteConfig, document)
        if config.scoring and config.weights:
            raise InputError("given here and in scoring.weights; keep one", path="weights")
    except InputError as error:
        raise with_line(error, file) from None
    weights = config.scoring.weights if config.scoring else config.weights or CaseWeights()
    named = weights.to_weights().named()
    return SuiteDefaults(named, config.timeout, tuple(_remarks(config, f"{FOLDER}/{file.name}")))


def _remarks(config: SuiteConfig, name: str) -> list[str]:
    said = []
    if rest := sorted(config.model_extra or {}):
        has = "has" if len(rest) == 1 else "have"
        said.append(f"{name}: {plural(len(rest), 'key')} {has} no effect here ({', '.join(rest)})")
    if config.judge and (model := "/".join(filter(None, (config.judge.provider, config.judge.model)))):
        said.append(f"{name}: judge is not asked by itself; name the model that judges with --judge-model, such as {model}")
    return said
