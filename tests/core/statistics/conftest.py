"""SciPy, with which the statistics are compared."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def stats() -> ModuleType:
    """``scipy.stats``: two seconds to import, which only the workers spend that have one of these tests."""
    return import_module("scipy.stats")
