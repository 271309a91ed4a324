"""The Model Context Protocol: pure, without input, output or a clock of its own."""
