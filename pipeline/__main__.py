"""`python -m pipeline`."""

from pipeline.cli import app

app()
