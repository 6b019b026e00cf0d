"""Accepted files as DuckDB tables, aggregates and downloads."""
