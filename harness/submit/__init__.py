"""Send a result to the map: a pull request through `gh`, git steps, or text for the issue form."""
