"""The contracts of the command line are asked for in the same places as its own tests."""

from __future__ import annotations

from tests.cli.conftest import _nothing_was_typed_before, folder, place, run_here

__all__ = ["_nothing_was_typed_before", "folder", "place", "run_here"]
