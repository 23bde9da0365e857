"""How many tasks and runs a comparison needs, and how often a gate is wrong."""
