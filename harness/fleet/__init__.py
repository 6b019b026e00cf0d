"""Measure a matrix of runs on many devices with dask.distributed."""
