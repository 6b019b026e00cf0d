"""The arithmetic of the planner: memory per buffer, placement on devices, and speed."""
