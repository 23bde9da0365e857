"""Estimates and tests: rates with intervals, paired comparisons, agreement, change points."""
