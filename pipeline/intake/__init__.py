"""The gate: may this pull request be merged, and what does its comment say?"""
