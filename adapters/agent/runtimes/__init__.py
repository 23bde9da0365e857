"""The agents that can be run: one file for each, which knows how it is started and what it prints."""
