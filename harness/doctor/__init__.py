"""The doctor: checks of everything that a run relies on, each with a remedy."""
