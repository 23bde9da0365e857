"""A night: run suites, compare each skill with its last good night, decide what changed and tell it."""
