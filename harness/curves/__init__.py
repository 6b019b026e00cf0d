"""Curves of step times: read from files of Draftmap and other tools, and stored for `plan`."""
