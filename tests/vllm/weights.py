"""Where do the weights for vLLM come from? From the preset that every campaign here starts with."""

from __future__ import annotations

import sys

from harness.models.presets import DEFAULT_TARGET
from harness.models.resolve import resolve


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.stdout.write(f"{resolve(DEFAULT_TARGET, say=say).path}\n")
