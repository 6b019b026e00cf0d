"""Feature: what a target would accept of a draft, counted without running the two together."""
