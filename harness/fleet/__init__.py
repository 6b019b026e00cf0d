"""One matrix of cells over many machines: a scheduler, and a worker for each device."""
