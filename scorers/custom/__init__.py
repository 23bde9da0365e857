"""Scorers that come with a benchmark: its own code, run in a process of its own."""
