"""Answers that are programs: they are run, and the tests of the task decide."""
