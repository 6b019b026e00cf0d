"""The terminal report: what one submission says, for the person who measured it."""
