"""What the runners of servers share: one HTTP client, processes, counters."""
