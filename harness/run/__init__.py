"""Run a campaign: from the plan to trials, the journal, and the result file."""
