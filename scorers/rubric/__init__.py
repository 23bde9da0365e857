"""Scoring by a rubric: several criteria, each judged by a model and weighted."""
