"""Skills that are Python code or LangChain runnables, called in a host process of their own or in this one."""
