"""Describe a measurement: prompt suites, methods, arms, and the plan of a campaign."""
