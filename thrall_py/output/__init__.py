"""What a person or a pipe gets to see."""
