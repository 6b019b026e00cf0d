"""The importers for other tools' formats, by the name of the format."""

from harness.imports import inventivehq, llama_bench, llama_server, llama_spec_bench, vllm
from harness.imports.records import Format

IMPORTERS: dict[str, Format] = {
    "inventivehq": inventivehq.FORMAT,
    "llama-bench": llama_bench.FORMAT,
    "vllm": vllm.FORMAT,
    "llama-spec-bench": llama_spec_bench.FORMAT,
    "llama-server": llama_server.FORMAT,
}
