"""`python -m pipeline.intake`: judge a pull request, and write the comment under it."""

from pipeline.intake.cli import app

app()
