"""These tests run with `make test-mlx`, never with `make test`: they need MLX and take minutes."""

import os

collect_ignore_glob = [] if "DRAFTMAP_TEST_MLX" in os.environ else ["test_*.py"]
