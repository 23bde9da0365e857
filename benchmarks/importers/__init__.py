"""Benchmarks in the formats of other tools."""

from eval_skills.benchmarks.importers.evalview import ImportedSuite, holds_cases, is_case, read_suite

__all__ = ["ImportedSuite", "holds_cases", "is_case", "read_suite"]
