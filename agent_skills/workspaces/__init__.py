"""Workspaces: the folders in which the evals of an Agent Skill are run, graded and compared, as skill-creator lays them out."""
