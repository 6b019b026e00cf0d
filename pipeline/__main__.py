"""Run the pipeline's command line: `python -m pipeline`."""

from pipeline.cli import app

app()
