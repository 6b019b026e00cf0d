"""`python -m pipeline.intake`: check a pull request, and write its comment."""

from pipeline.intake.cli import app

app()
