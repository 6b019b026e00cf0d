"""`draftmap import`: make a result from the logs or answers of other tools."""
