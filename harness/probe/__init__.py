"""Measure what a wider step of a model costs on this machine, without a draft."""
