"""Tests on a real MLX run with `make test-mlx`, never with `make test`: they take minutes."""

import os

collect_ignore_glob = [] if "DRAFTMAP_TEST_MLX" in os.environ else ["test_real_*.py"]
