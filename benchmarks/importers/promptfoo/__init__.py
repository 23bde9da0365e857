"""Configurations and tables of promptfoo as tasks."""
