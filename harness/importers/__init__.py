"""The formats of other tools that can be imported, one line each.

To add one: a file with a `Format`, a line here, and a sample in `tests/captures/imports`.
"""

from harness.importers import (
    inventivehq,
    llama_bench,
    llama_server,
    llama_spec_bench,
    vllm,
)
from harness.importers.records import Format

IMPORTERS: dict[str, Format] = {
    "inventivehq": inventivehq.FORMAT,
    "llama-bench": llama_bench.FORMAT,
    "vllm": vllm.FORMAT,
    "llama-spec-bench": llama_spec_bench.FORMAT,
    "llama-server": llama_server.FORMAT,
}
