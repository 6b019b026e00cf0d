"""Which files of other tools can be read? One line per format.

To add one: a file with a function that turns `Given` files into a `Reading`, a line here, and a
sample in `tests/captures/imports`.
"""

from collections.abc import Callable, Sequence

from harness.importers import (
    inventivehq,
    llama_bench,
    llama_server,
    llama_spec_bench,
    mtp_bench,
    qwen38_specdec,
    spec_bench,
    speed_bench,
    vllm,
)
from harness.importers.model import Given, Reading

Importer = Callable[[Sequence[Given]], Reading]

IMPORTERS: dict[str, Importer] = {
    "inventivehq": inventivehq.read,
    "speed-bench": speed_bench.read,
    "mtp-bench": mtp_bench.read,
    "llama-bench": llama_bench.read,
    "vllm": vllm.read,
    "spec-bench": spec_bench.read,
    "qwen38-specdec": qwen38_specdec.read,
    "llama-spec-bench": llama_spec_bench.read,
    "llama-server": llama_server.read,
}
