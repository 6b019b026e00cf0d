"""Curves of step times: read from files of other tools and of this one, and kept for `plan`."""
