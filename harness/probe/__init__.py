"""Measure the time of wider steps of a model on this machine, without a draft."""
