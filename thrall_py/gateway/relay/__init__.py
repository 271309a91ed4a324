"""Requests on their way to a server: who is asked meanwhile, and how they end."""
