"""Code shared by the server runners: the HTTP client, processes, counters."""
