"""A document becomes skills."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.scaffolding.openapi import Imported, import_openapi
from tests.scaffolding.openapi.documents import Load


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Import a document that is given as text or as data."""

    def loaded(content: Any, file_name: str = "api.json", **options: Any) -> Imported:
        file = tmp_path / file_name
        file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return import_openapi(file, tmp_path / "skills", **options)

    return loaded
