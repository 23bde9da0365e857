"""Benchmarks in the formats of other tools."""

from eval_skills.benchmarks.importers.evalview.files import is_case
from eval_skills.benchmarks.importers.evalview.suite import holds_cases, read_suite

__all__ = ["holds_cases", "is_case", "read_suite"]
