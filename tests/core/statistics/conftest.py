"""SciPy, with which the statistics are compared."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import pytest


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "stats" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def stats() -> ModuleType:
    """``scipy.stats``: two seconds to import, so that what compares with it is slow."""
    return import_module("scipy.stats")
