"""The catalog: what servers offered when a person last looked."""
