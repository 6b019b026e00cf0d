"""Modules of single commands: each parses, calls, prints and sets the exit code."""
