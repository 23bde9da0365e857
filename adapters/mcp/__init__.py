"""Skills that are tools of an MCP server, over stdio or HTTP."""
