"""`draftmap import`: make results from the files of other tools."""
