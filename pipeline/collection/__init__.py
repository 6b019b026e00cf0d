"""The collection of result files: discovery, validation, lifecycle, plausibility."""
