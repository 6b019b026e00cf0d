"""Run a campaign: plan to trials, journal, and the result file."""
