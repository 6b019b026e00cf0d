"""Which model files do the tests look at? Tiny ones, with a header like a real one's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from gguf import GGUFWriter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TOKENS = tuple(f"t{number}" for number in range(300))


def write_gguf(  # noqa: C901, PLR0913 - a builder: each argument is one thing a test may want to vary
    path: Path,
    *,
    tokens: Sequence[str] | None = TOKENS,
    kind: str = "gpt2",
    pre: str | None = None,
    bos: int | None = 1,
    add_bos: bool | None = False,
    name: str | None = "Tiny Test 1M Instruct",
    base_name: str | None = None,
    file_type: int | None = 1,
    experts: tuple[int, int] | None = None,
    weights: bool = True,
    split: tuple[int, int] | None = None,
) -> Path:
    """A file with two layers, 4096 plain weights and, if asked, experts with 80 in all.

    `split` is the number of this part, from 0, and how many there are.
    """
    writer = GGUFWriter(path, "llama")
    if name is not None:
        writer.add_name(name)
    if base_name is not None:
        writer.add_basename(base_name)
    writer.add_block_count(2)
    writer.add_context_length(512)
    if file_type is not None:
        writer.add_file_type(file_type)
    writer.add_tokenizer_model(kind)
    if pre is not None:
        writer.add_tokenizer_pre(pre)
    if tokens is not None:
        writer.add_token_list(list(tokens))
    if bos is not None:
        writer.add_bos_token_id(bos)
    writer.add_eos_token_id(2)
    if add_bos is not None:
        writer.add_add_bos_token(add_bos)
    if split is not None:
        writer.add_uint16("split.no", split[0])
        writer.add_uint16("split.count", split[1])
    if weights:
        writer.add_tensor("token_embd.weight", np.zeros((64, 64), dtype=np.float16))
    if experts is not None:
        writer.add_expert_count(experts[0])
        writer.add_expert_used_count(experts[1])
        writer.add_tensor("blk.0.ffn_up_exps.weight", np.zeros((8, 10), dtype=np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
