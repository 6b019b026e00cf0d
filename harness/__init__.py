"""Measure speculative decoding on this machine and write one submission file."""

__version__ = "0.1.0"
