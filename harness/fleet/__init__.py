"""Measure a matrix of runs on many devices, using dask.distributed."""
