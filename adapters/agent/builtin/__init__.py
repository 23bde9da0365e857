"""Our own agent: a loop around a model with tools to read, write, list, run commands and load Agent Skills."""
