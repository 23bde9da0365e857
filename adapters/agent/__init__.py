"""Skills that are agents: a model with tools that works in a folder of its own, with Agent Skills installed."""
