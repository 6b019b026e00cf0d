"""The gate: check the results of a pull request and comment on it."""
