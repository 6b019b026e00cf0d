"""Paths of the packages and models of `make test-mlx`, and the environment that uses them."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "mlx"
MODELS = BUILD / "models"
TARGET = "SmolLM2-135M-Instruct"
DRAFT = "SmolLM2-135M-Instruct-without-4"


def variables() -> dict[str, str]:
    """Environment variables with which Python finds mlx, without requests to the hub."""
    return {**os.environ, "PYTHONPATH": str(BUILD / "packages"), "HF_HUB_OFFLINE": "1"}
