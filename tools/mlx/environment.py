"""Where `make test-mlx` has its packages and models, and how a process finds them."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "mlx"
MODELS = BUILD / "models"
TARGET = "SmolLM2-135M-Instruct"
DRAFT = "SmolLM2-135M-Instruct-without-4"


def variables() -> dict[str, str]:
    """The environment in which Python finds mlx; the hub is not asked."""
    return {**os.environ, "PYTHONPATH": str(BUILD / "packages"), "HF_HUB_OFFLINE": "1"}
