"""How messages travel: one server process and its pipes."""
