"""A campaign while it runs: plan to trials, journal, and the result file."""
