"""What is answered from the catalog, and what has to be asked upstream. Pure."""
