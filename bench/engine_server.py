"""Start the peer's server; a script for the Python of the peer's own environment.

It takes the settings as JSON, prints the server's address, and ends when its input is closed.
"""

import json
import sys

import xllamacpp  # type: ignore[import-not-found]  # lives in the peer's environment only


def main() -> None:
    """Serve until nobody listens any more."""
    wanted = json.loads(sys.argv[1])
    params = xllamacpp.CommonParams()
    params.model.path = wanted["model"]
    params.n_ctx, params.n_parallel = wanted["context_tokens"], 1
    params.n_batch = params.n_ubatch = wanted["batch_tokens"]
    params.n_gpu_layers = 0
    params.cache_ram_mib = 0
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_AUTO
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads = wanted["threads"]
    if "draft" in wanted:
        speculative = params.speculative
        simple = xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE
        speculative.types = [simple]
        draft = speculative.draft
        draft.mparams.path = wanted["draft"]
        draft.n_max, draft.n_min, draft.p_min, draft.n_gpu_layers = wanted["n_max"], 0, 0.0, 0
        for cpu in (draft.cpuparams, draft.cpuparams_batch):
            cpu.n_threads = wanted["threads"]
    server = xllamacpp.Server(params)
    print(json.dumps([server.listening_address, xllamacpp.get_system_info()]), flush=True)  # noqa: T201 - its answer
    sys.stdin.read()


if __name__ == "__main__":
    main()
