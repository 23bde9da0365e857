"""Drafts of tasks: from the schemas of a skill, from stored runs, and by a model."""
