"""Curves of step times: reading them from files, and storing measured ones for `plan`."""
