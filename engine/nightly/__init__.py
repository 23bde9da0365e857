"""A night: run suites, compare each skill with its last good night, classify what changed and report it."""
