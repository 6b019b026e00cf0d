"""Measure how long a model's steps over several tokens take on this machine, without a draft."""
