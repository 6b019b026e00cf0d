"""Models: find the file that a name refers to, and describe that file."""
