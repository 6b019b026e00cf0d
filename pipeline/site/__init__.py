"""The static site: pages, charts, feeds and the build."""
