"""Compare two builds of an engine: whether speculation became slower, or the answers worse."""
