"""Placeholders in requests and paths, filled from a task's input."""
