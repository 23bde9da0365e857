"""A night: run suites, compare each skill with its good nights, classify what changed and report it."""
