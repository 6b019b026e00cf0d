"""Which files of other tools can be read? One line per format.

To add one: a file with a function that turns `Given` files into a `Reading`, a line here, and a
sample in `tests/captures/imports`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.importers import inventivehq, llama_bench, mtp_bench, spec_bench, speed_bench, vllm
from harness.importers.model import Reading
from harness.importers.source import Given

Importer = Callable[[Sequence[Given]], Reading]

IMPORTERS: dict[str, Importer] = {
    "inventivehq": inventivehq.read,
    "speed-bench": speed_bench.read,
    "mtp-bench": mtp_bench.read,
    "llama-bench": llama_bench.read,
    "vllm": vllm.read,
    "spec-bench": spec_bench.read,
}
