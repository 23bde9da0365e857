"""Nobody is shown a pattern of ours: every one has words that say what is valid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from eval_skills.adapters.headers import HeaderName
from eval_skills.adapters.http.config import JsonPointer
from eval_skills.core.documents.loading import validate
from eval_skills.core.documents.validation_errors import wrong_in
from eval_skills.core.errors import InputError
from eval_skills.core.models import Benchmark
from eval_skills.core.models.base import Identifier, SemVer
from eval_skills.deployments.deployment_file import ModulePath
from eval_skills.scorers.rubric.definition import DimensionName, LevelName
from tests.tables import each_row

ROOT = Path(__file__).parents[2]


@each_row("kind", [Identifier, SemVer, HeaderName, JsonPointer, ModulePath, DimensionName, LevelName])
def test_what_is_valid_is_said_in_words(kind: Any) -> None:
    with pytest.raises(ValidationError) as error:
        TypeAdapter(kind).validate_python(" \n")
    said = wrong_in(error.value.errors()[0])
    assert said.startswith("give ")
    assert "pattern" not in said


def test_so_it_is_in_the_message_of_a_file() -> None:
    with pytest.raises(InputError, match=r"^id: give lower-case letters, digits, - and _; got"):
        validate(Benchmark, {"id": "?", "name": "n", "version": "1.0.0", "tasks": []})


def test_every_pattern_is_declared_with_its_words() -> None:
    files = [
        path
        for room in ("core", "adapters", "scorers", "benchmarks", "deployments", "engine")
        for path in (ROOT / room).rglob("*.py")
    ]
    bare = [path.name for path in files if "pattern=r" in path.read_text() or "pattern=_" in path.read_text()]
    assert bare == ["base.py"]
