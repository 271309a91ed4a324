"""thrall: MCP tools as Unix commands, and what a server offers as a pinned dependency."""

# A literal: importlib.metadata.version() would cost every start 21 ms.
__version__ = "0.1.0"
