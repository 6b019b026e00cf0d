"""The planner: what fits, what a draft costs in memory, and what it will probably gain."""
