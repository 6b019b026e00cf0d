"""Which options has `run`? One file per group; this is their folder."""
