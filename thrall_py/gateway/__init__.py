"""The catalog as one MCP server: asyncio is at home here, and nowhere else."""
