"""The doctor: checks of everything that a run needs, each with a remedy."""
