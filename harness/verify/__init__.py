"""Feature: a result verified on a machine that has its weights."""
