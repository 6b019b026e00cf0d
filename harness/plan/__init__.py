"""The planner: which models fit, a draft's memory use, and its expected gain."""
