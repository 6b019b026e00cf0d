"""One module per command: each parses arguments, calls the code, prints, sets the exit code."""
