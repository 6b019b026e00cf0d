"""Print the path of the F32 weights from which the models for vLLM and MLX are converted."""

import sys

from harness.models.resolve import resolve

PRESET = "smollm2-135m:f32"


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.stdout.write(f"{resolve(PRESET, say=say).path}\n")
