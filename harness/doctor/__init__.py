"""The doctor: checks of everything that a run relies on, each with what to do about it."""
