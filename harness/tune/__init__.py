"""Finds the method and depth for a machine: candidates, stages, report."""
