"""Shared by the runners of servers: one HTTP client, processes, counters."""
