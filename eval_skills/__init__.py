"""Unit-test, compare and watch AI-agent skills."""
