"""The commands about Agent Skills, folders with a ``SKILL.md``."""
