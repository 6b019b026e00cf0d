"""Compare two builds of an engine: is speculation slower, or are answers worse, after a change?"""
