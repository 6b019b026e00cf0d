"""Describe a measurement: suites, methods, arms, and the plan of a campaign."""
