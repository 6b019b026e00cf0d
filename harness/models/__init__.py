"""Models: find the file that a name means, and describe it."""
