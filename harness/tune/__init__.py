"""Finds the method and depth for a machine: what may be tried, the stages, the report."""
