"""Feature: count the draft tokens that a target would accept, without running both together."""
