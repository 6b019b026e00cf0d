"""`python -m harness` is the command line."""

from harness.cli.app import main

main()
