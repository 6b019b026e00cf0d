"""Turn accepted files into DuckDB tables, aggregates and downloads."""
