"""Figures of the map for tests of answers."""

from typing import Any

from planner.evidence import PairFigure

FIGURE: dict[str, Any] = {
    "device": "rtx-4090-24-gb", "name": "RTX 4090 24 GB", "target": "m", "target_name": "M",
    "card": "rtx 4090", "cards": 1, "on_cpu": False, "gib": 24, "model": "m",
    "method": "mtp", "task": "all", "tier": "published", "people": 1, "depth": 3, "depths": (3,),
    "engines": ("llama.cpp",), "sources": ("source",), "sure": True,
}  # fmt: skip


def pair(speedup: float, **others: Any) -> PairFigure:  # noqa: ANN401 - any field of a figure
    """A figure that one person published; `FIGURE` has the rest."""
    return PairFigure(**{**FIGURE, "speedup": speedup, "least": speedup, "most": speedup, **others})
