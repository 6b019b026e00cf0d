"""All result files together: discovery, validation, lifecycle, plausibility."""
