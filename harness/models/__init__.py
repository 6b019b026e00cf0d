"""Models: from what a person names to a file on this disk and what is known about it."""
