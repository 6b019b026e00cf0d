"""The arithmetic of the planner: memory by buffer, placement on devices, and speed."""
