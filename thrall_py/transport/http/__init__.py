"""Servers on a URL: HTTP/1.1 over our own sockets, and the two transports of MCP on top of it."""
