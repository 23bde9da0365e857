"""Benchmarks in the formats of other tools."""

from eval_skills.benchmarks.importers.evalview.files import is_case
from eval_skills.benchmarks.importers.evalview.suite import holds_cases, read_suite
from eval_skills.benchmarks.importers.ours import is_foreign

__all__ = ["holds_cases", "is_case", "is_foreign", "read_suite"]
