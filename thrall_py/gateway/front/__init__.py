"""Clients of a gateway: on our stdin and stdout, and over HTTP."""
