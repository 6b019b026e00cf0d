"""Verify a result on a machine that has its weights."""
