"""Curves of step times: read from files of this and other tools, and stored for `plan`."""
