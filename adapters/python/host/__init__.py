"""The program that runs a skill's Python code, started by its path in whatever interpreter the skill names."""
