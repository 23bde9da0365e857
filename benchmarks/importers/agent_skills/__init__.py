"""Evals, queries and graded workspaces of Agent Skills as benchmarks."""
