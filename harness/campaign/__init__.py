"""What is measured: suites, methods, arms, and the plan of a campaign."""
