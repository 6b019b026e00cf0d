"""The terminal report of one submission, for the person who measured it."""
